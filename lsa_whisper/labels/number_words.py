"""The words that languages other than English have for the signs beside numbers: per cent, money, degrees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple


class NumberWords(NamedTuple):
    """The words of a language for signs; a currency and a degree have the words for one and for several.

    Attributes:
        comma: Parts whole numbers from decimals.
        percent: Stands behind the number, or around it, where it has ``{}``.
        clock: Stands between hours and minutes.
        conjunction: ``&``.
        cents: Stands between an amount and its cents.
        money: ``€``, ``$``, ``£`` and, in Portuguese, ``R$``, as ``one/several/coins``.
        own: The sign and the words of the money of a country.
        degree: ``°``, as ``one/several``.
        celsius: The *C* behind it.
        number: ``№``.
        half: ``½``.
        minus: ``-`` before a number; empty where the sign stays.
    """

    comma: str = ","
    percent: str = "%"
    clock: str = ""
    conjunction: str = "&"
    cents: str = " "
    money: tuple[str, ...] = ()
    own: tuple[str, str] = ("", "")
    degree: str = ""
    celsius: str = "Celsius"
    number: str = "№"
    half: str = "½"
    minus: str = ""


_WORDS = {
    "deu": NumberWords("Komma", "Prozent", "Uhr", "und", " ", ("Euro/Euro/Cent", "Dollar", "Pfund"), degree="Grad",
                       number="Nummer", half="ein halb", minus="minus"),
    "nld": NumberWords("komma", "procent", "uur", "en", " ", ("euro", "dollar", "pond"), degree="graad/graden",
                       number="nummer", half="een half", minus="min"),
    "fra": NumberWords("virgule", "pour cent", "heures", "et", " ",
                       ("euro/euros/centimes", "dollar/dollars", "livre/livres"), degree="degré/degrés",
                       number="numéro", half="un demi", minus="moins"),
    "spa": NumberWords("coma", "por ciento", "", "y", " con ", ("euro/euros/céntimos", "dólar/dólares", "libra/libras"),
                       degree="grado/grados", number="número", half="medio", minus="menos"),
    "ita": NumberWords("virgola", "per cento", "", "e", " e ", ("euro", "dollaro/dollari", "sterlina/sterline"),
                       degree="grado/gradi", number="numero", half="mezzo", minus="meno"),
    "por": NumberWords("vírgula", "por cento", "", "e", " e ",
                       ("euro/euros", "dólar/dólares", "libra/libras", "real/reais"), degree="grau/graus",
                       number="número", half="meio", minus="menos"),
    "cat": NumberWords("coma", "per cent", "", "i", " amb ", ("euro/euros", "dòlar/dòlars", "lliura/lliures"),
                       degree="grau/graus", number="número", half="mig", minus="menys"),
    "swe": NumberWords("komma", "procent", "", "och", " ", ("euro", "dollar", "pund"), degree="grad/grader",
                       number="nummer", half="en halv", minus="minus"),
    "dan": NumberWords("komma", "procent", "", "og", " ", ("euro", "dollar", "pund"), degree="grad/grader",
                       number="nummer", half="en halv", minus="minus"),
    "nor": NumberWords("komma", "prosent", "", "og", " ", ("euro", "dollar", "pund"), degree="grad/grader",
                       number="nummer", half="en halv", minus="minus"),
    "fin": NumberWords("pilkku", "prosenttia", "", "ja", " ", ("euro/euroa", "dollari/dollaria", "punta/puntaa"),
                       degree="aste/astetta", number="numero", half="puoli", minus="miinus"),
    "pol": NumberWords("przecinek", "procent", "", "i", " ", ("euro", "dolar/dolarów", "funt/funtów"),
                       degree="stopień/stopni", celsius="Celsjusza", number="numer", half="pół", minus="minus"),
    "ces": NumberWords("celá", "procent", "", "a", " ", ("euro/eur", "dolar/dolarů", "libra/liber"),
                       degree="stupeň/stupňů", celsius="Celsia", number="číslo", half="půl", minus="mínus"),
    "rus": NumberWords("запятая", "процентов", "", "и", " ", ("евро", "доллар/долларов", "фунт/фунтов"),
                       ("₽", "рубль/рублей"), "градус/градусов", "Цельсия", "номер", "половина", minus="минус"),
    "ukr": NumberWords("кома", "відсотків", "", "і", " ", ("євро", "долар/доларів", "фунт/фунтів"),
                       ("₴", "гривня/гривень"), "градус/градусів", "Цельсія", "номер", "половина", minus="мінус"),
    "ell": NumberWords("κόμμα", "τοις εκατό", "", "και", " ", ("ευρώ", "δολάριο/δολάρια", "λίρα/λίρες"),
                       degree="βαθμός/βαθμοί", celsius="Κελσίου", number="νούμερο", half="μισό", minus="μείον"),
    "hun": NumberWords("egész", "százalék", "", "és", " ", ("euró", "dollár", "font"), degree="fok", number="szám",
                       half="fél", minus="mínusz"),
    "ron": NumberWords("virgulă", "la sută", "", "și", " ", ("euro", "dolar/dolari", "liră/lire"),
                       degree="grad/grade", number="numărul", half="jumătate", minus="minus"),
    "tur": NumberWords("virgül", "yüzde {}", "", "ve", " ", ("avro", "dolar", "sterlin"), ("₺", "lira"), "derece", "",
                       "numara", "yarım", minus="eksi"),
    "cym": NumberWords("pwynt", "y cant", "", "a", " ", ("ewro", "doler", "punt"), degree="gradd", number="rhif",
                       half="hanner", minus="meinws"),
    "heb": NumberWords("נקודה", "אחוז", "", "ו", " ", ("אירו", "דולר", "פאונד"), ("₪", "שקל/שקלים"), "מעלה/מעלות",
                       "צלזיוס", "מספר", "חצי", minus="מינוס"),
    "ara": NumberWords("فاصلة", "بالمئة", "", "و", " ", ("يورو", "دولار", "جنيه"), degree="درجة/درجات", celsius="مئوية",
                       number="رقم", half="نصف", minus="سالب"),
    "hin": NumberWords("दशमलव", "प्रतिशत", "", "और", " ", ("यूरो", "डॉलर", "पाउंड"), ("₹", "रुपया/रुपये"), "डिग्री",
                       "सेल्सियस", "नंबर", "आधा", minus="माइनस"),
    "jpn": NumberWords("点", "パーセント", "", "と", " ", ("ユーロ", "ドル", "ポンド"), ("¥", "円"), "度", "", "番号",
                       "二分の一", minus="マイナス"),
    "kor": NumberWords("점", "퍼센트", "", "와", " ", ("유로", "달러", "파운드"), ("₩", "원"), "도", "", "번호", "반",
                       minus="마이너스"),
}  # fmt: skip
_PERCENT = {
    "afr": "persent", "bul": "процента", "est": "protsenti", "fas": "درصد", "hrv": "posto", "ind": "persen",
    "isl": "prósent", "lit": "procentų", "lav": "procenti", "msa": "peratus", "slk": "percent", "slv": "odstotkov",
    "srp": "posto", "tgl": "porsiyento", "tha": "เปอร์เซ็นต์", "urd": "فیصد", "vie": "phần trăm"}  # fmt: skip
"""The word for per cent of further languages."""
_SAME = {"nob": "nor", "nno": "nor"}
HOURS = {"fra": "heures", "por": "horas", "spa": "horas", "cat": "hores"}
"""The word for the *h* of *7h30*."""
_BEFORE_HOURS = {"deu": {"eins": "ein"}, "fra": {"un": "une"}, "por": {"um": "uma", "dois": "duas"},
                 "spa": {"uno": "una", "veintiuno": "veintiuna"}, "ita": {"uno": "una"},
                 "cat": {"un": "una"}}  # fmt: skip
"""Forms of the last word of a number before hours, and before other feminine words in *-a*."""
_BEFORE_UNITS = {"deu": {"eins": "ein"}, "spa": {"uno": "un", "veintiuno": "veintiún"}, "ita": {"uno": "un"}}
"""Its forms before the names of money, of degrees and of what is counted."""
_FRENCH = "fois|(?:heure|minute|seconde|semaine|année|journée|personne|fille|femme|page)s?"
_FEMININE = re.compile(rf".*a|vez|veces|{_FRENCH}|")
_COUNTED = {
    "deu": r" ([A-ZÄÖÜ]\w+|drittel|viertel)",
    "fra": rf" ({_FRENCH})\b",
    "por": r" (?!mas\b|apenas\b|antes\b)(\w+a(?=s\b)|vez)",
    "spa": r" (año|mes|minuto|segundo|euro|peso|kilo|\w*metro|hora|semana|vez|veces|millón|tercio|cuarto|niñ[oa]|dí"
    r"|idiom|map|\w*(?:e|gra)m(?=as)|(?!\w*mos\b)\w+[ao](?=s\b))",
}
"""What is certainly a noun behind a number."""
_COUNTED_ONE = (
    r" (?!(?:para|cada|contra|nada|toda?o?|hasta|ahora|agora|ora|luego|pero|como?|quando|cuando|sol[oa]|ou?tr[oa]|"
    r"contro|sopra|prima|dopo|poco|ancora|allora|sono|dentro|fuera|arriba|abajo)\b)([a-zà-ÿ]{3,}[ao])\b"
)
"""What most likely is one behind ``1`` in Romance languages: a word in *-o* or *-a*."""
_LABELED = re.compile(
    r"(?i)\b(?:\wl|a[lo]|o|n.mer\w|cap.t\w+|p.gina|n.v\w+|fas.|grup\w+|equip\w+|canal.?|parte?|d.a|e\w+erc.\w+|t.m.) \Z"
)
"""What stands before ``1`` where it is the number of a thing: *capítulo 1 trata de ...*"""
UNITS = ("km/h", "km", "m", "cm", "mm", "kg", "g", "l", "ml", "min", "x", "Mio", "Mrd")
"""Units that are written out behind a number; ``3x`` is *three times*, ``mln`` is ``Mio``."""
_OTHER_UNITS = {
    "deu": {"Tsd": "tausend", "Std": "Stunden|Stunde", "Min": "Minuten|Minute", "Sek": "Sekunden|Sekunde",
            "m²": "Quadratmeter", "km²": "Quadratkilometer"},
    "fra": {"Md": "milliards|milliard", "Mds": "milliards", "m²": "mètres carrés|mètre carré"},
    "spa": {"m²": "metros cuadrados|metro cuadrado"},
}  # fmt: skip
"""Further ones of some languages."""
_SIGNS = ("–", "+", "-", "x", "/", "=", "§", "§§", "/3", "/4")
_SIGN_WORDS = {
    "deu": "bis plus minus mal durch gleich Paragraf Paragrafen drittel viertel Stundenkilometer Kilometer Meter "
    "Zentimeter Millimeter Kilogramm Gramm Liter Milliliter Minuten mal Millionen|Million Milliarden|Milliarde",
    "fra": "à plus moins fois divisé_par égale paragraphe paragraphes tiers_ quarts kilomètres_heure kilomètres mètres "
    "centimètres millimètres kilos grammes litres millilitres minutes fois_ millions milliards",
    "spa": "a más menos por entre igual_a párrafo párrafos tercios cuartos kilómetros_por_hora kilómetros metros "
    "centímetros milímetros kilos gramos litros mililitros minutos veces|vez millones|millón mil_millones",
    "ita": "- più meno per diviso uguale paragrafo paragrafi terzi|terzo quarti|quarto chilometri_orari "
    "chilometri|chilometro metri|metro centimetri|centimetro millimetri|millimetro chili|chilo grammi|grammo "
    "litri|litro millilitri|millilitro minuti|minuto volte|volta milioni|milione miliardi|miliardo",
    "nld": "tot plus min maal gedeeld_door is paragraaf paragrafen derde kwart kilometer_per_uur kilometer meter "
    "centimeter millimeter kilo gram liter milliliter minuten|minuut keer miljoen_ miljard",
    "por": "a mais menos vezes dividido_por igual_a parágrafo parágrafos terços quartos quilômetros_por_hora "
    "quilômetros metros centímetros milímetros quilos gramas litros mililitros minutos vezes|vez "
    "milhões|milhão bilhões|bilhão",
}
"""The words of :data:`_SIGNS` and :data:`UNITS`, ``_`` for a blank: of a range, of arithmetic, of what stands beside 5.

Beside 1 stands what is behind ``|``, or the word without *-s* and *-n*, which a blank at the end keeps."""
_ARITHMETIC = re.compile(r"(?<![\w.,/:])\d+(?:\s?[-−+×÷x*/:]\s?\d+)+\s?=\s?\d+(?![\w/]|[.,]\d)")
_ALIKE = str.maketrans("−×*÷:", "-xx//")
_TO = re.compile(r"(?<![\w.,/:)-])(?!0\d|\d{3}-\d{4})((\d{1,4})(?::[0-5]\d| ?h)?) ?[-–] ?(?=(\d{1,4})(?!\d|[.,/–-]\d))")
_UNIT = re.compile(
    r"(?<![\w.,/])(\d[\d.,]*)"
    r"(?: ?(km/[hu]|k?m²|[ckm]?m|k?g|m?l|[mM]in|M(?:io|r?d|ds)|ml[nd]|Tsd|Std|Sek|x(?! ?[-+=\d]))"
    r"|(?<=[1-3])(/[34]))(?![\w/²³'’]|[.,]\d)"
)
POINTS = {"spa": "punto", "ita": "punto", "por": "ponto", "fra": "point", "deu": "Punkt", "nld": "punt"}
"""The word for a decimal point, where it is not a comma."""


def number_words(language: str) -> NumberWords:
    """Return the words of ``language`` (ISO 639-3); of a language without a row, the signs themselves.

    >>> number_words("deu").percent, number_words("vec").percent
    ('Prozent', '%')
    """
    return _WORDS.get(_SAME.get(language, language)) or NumberWords(percent=_PERCENT.get(language, "%"))


def before_unit(unit: str, words: str, language: str) -> str:
    """Return ``words``, those of a number, as they are before ``unit``: German *eins* is *ein Euro*."""
    if words == "eins" and re.search("(?<!Jung)(?<!Nam)(?<!End)(?<!Aug)e$|ion$", unit):
        return "eine"
    feminine = _FEMININE.fullmatch(unit)
    words = re.sub("(?<=ent)os", "as", words) if unit and feminine else words  # doscientas, duzentas
    forms = _BEFORE_HOURS if feminine else _BEFORE_UNITS
    *others, last = words.split(" ")
    return " ".join([*others, forms.get(language, {}).get(last, last)])


def counted_noun(match: re.Match[str], language: str) -> str:
    """Return what the number that ``match`` is counts, where that is certain, or likely behind ``1``; else nothing."""
    patterns = [_COUNTED.get(language, "(?!)")]
    if match[0] == "1" and language in ("cat", "ita", "por", "spa"):
        patterns += [] if _LABELED.search(match.string[max(match.start() - 30, 0) : match.start()]) else [_COUNTED_ONE]
    nouns = (re.match(pattern, match.string[match.end() :]) for pattern in patterns)
    return next((noun[1] for noun in nouns if noun), "")


def speak_arithmetic(text: str, words: Mapping[str, str]) -> str:
    """Return ``text`` with the signs of arithmetic (``+-x/=``) as ``words``: ``5-3=2`` as *5 minus 3 equals 2*."""
    if "=" not in text:
        return text
    signs = {ord(sign): f" {word} " for sign, word in words.items() if len(sign) == 1}
    return _ARITHMETIC.sub(lambda match: match[0].translate(_ALIKE).translate(signs).replace("  ", " "), text)


def with_spoken_signs(text: str, language: str) -> str:
    """Return ``text`` with the signs between numbers, and the units behind them, as words: *8 bis 10 Kilometer*."""
    if language not in _SIGN_WORDS:
        return text
    spoken = [word.replace("_", " ") for word in _SIGN_WORDS[language].split()]
    words, units = dict(zip(_SIGNS, spoken, strict=False)), dict(zip(("/3", "/4", *UNITS), spoken[-15:], strict=True))
    units |= {"mln": units["Mio"], "mld": units["Mrd"]} | _OTHER_UNITS.get(language, {})
    text = re.sub(r"(?<=\d) ?(?:EUR|Euro|euros?)\b(?!-)", " €", speak_arithmetic(text, words))
    text = re.sub(r"(§§?)\s?(?=\d)", lambda hit: f"{words[hit[1]]} ", text)
    text = _TO.sub(lambda hit: f"{hit[1]} {words['–']} " if int(hit[2]) < int(hit[3]) else hit[0], text)
    text = re.sub(r"(?<=\d) ?[x×] ?(?=\d)", f" {words['x']} ", text)

    def measured(hit: re.Match[str]) -> str:
        unit = (hit[2] or hit[3]).replace("/u", "/h")
        if unit == "Tsd" and hit[1].isdigit():  # one word: dreitausend
            return f"{hit[1]}000"
        many, _, one = units.get(unit, unit).partition("|")
        return f"{hit[1]} {(one or many.rstrip('sn')) if hit[1] == '1' else many.rstrip()}"

    return _UNIT.sub(measured, text)
