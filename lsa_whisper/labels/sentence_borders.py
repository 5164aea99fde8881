"""Where a sentence begins and ends in plain text: abbreviations whose point does not end one, and capital letters."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

_NEVER = {
    "eng": """Vol vol pp Ft Mr Mrs Ms Dr Prof St Mt Rev Gen Col Capt Lt Sgt Sen Rep Gov Hon vs cf Messrs approx e.g
        i.e""",
    "deu": """Hr Hrn Fr Dr Prof Dipl Ing St Str Nr Hausnr bzw bspw ca evtl exkl ggf inkl insb sog vgl zzgl Mio Mrd Tel
        geb Tsd z.B d.h u.a o.ä i.d.R z.T u.U m.E s.o s.u v.a""",
    "fra": "M MM Mme Mmes Mlle Dr Pr St Ste env av apr p.ex c.-à-d",
    "spa": "Sr Sra Srta Sres Sras Dr Dra Prof Profa D Dña Lic Ing Arq Av Avda núm núms pág págs aprox tel p.ej",
    "ita": "sig Sig sigg Sigg sig.ra Sig.ra sig.na dott Dott dr Dr prof Prof avv Avv ing Ing S es pag p.es",
    "por": "Sr Sra Srs Sras D Dr Dra Prof Profa Sto Sta Exmo Exma Av tel pág p.ex",
    "nld": "dhr Dhr mevr Mevr mw Mw dr Dr drs Drs prof Prof St ir bijv bv nr ca d.w.z m.a.w o.a",
    "swe": "dr Dr prof nr ca kl Kl t.ex bl.a d.v.s",
    "dan": "dr Dr hr Hr fr Fr prof nr ca kl Kl f.eks bl.a d.v.s",
    "nor": "dr Dr prof nr ca kl Kl f.eks bl.a d.v.s",
    "fin": "esim mm ns n klo",
    "pol": "dr Dr prof Prof mgr inż ul al pl św godz tel nr np tzn tj tzw m.in",
    "ces": "dr Dr MUDr prof Prof ing Ing mgr Mgr např tzv tj",
    "rus": "г гг ул пр проф акад доц им см ср напр тыс млн млрд т.е",
    "ukr": "м р вул проф акад див напр тис млн млрд тобто т.є",
    "ell": "κ κα κος Δρ π.χ δηλ",
    "tur": "Dr Prof Doç Av Sn örn",
    "cym": "Dr Mr Mrs Ms Prof Parch St",
    "hin": "डॉ श्री प्रो",
    "ara": "د أ",
}
"""These never end a sentence, not even where a segment ends: a name or a number follows."""
_BEFORE_NUMBERS = {
    "eng": "Apt apt ext pg nos Rs Ste ed Fig fig Figs Sec sec Ch ch Art art Eq No p",
    "deu": "Abb Abs Art Bd Kap Tab S",
    "fra": "art chap fig vol p",
    "spa": "art cap s fig vol p",
    "ita": "art cap n sec fig vol p",
    "por": "art cap séc fig vol p",
    "nld": "art blz fig hfst p",
    "pol": "art pkt rozdz rys s str ust",
    "rus": "гл д кв п рис ст стр",
}
"""These end no sentence before a number."""
_MAY = {
    "eng": """al etc Jr Sr Inc Ltd Co Corp Ave Blvd Rd a.m p.m A.M P.M Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun
        Jan Feb Mar Apr Aug Sep Sept Oct Nov Dec max min dept Dept est""",
    "deu": "usw etc u.s.w v.Chr n.Chr Jh Jhd Std Min Sek Mo Di Mi Do Sa So",
    "fra": "etc",
    "spa": "etc Ud Uds Vd Vds a.C d.C a.m p.m EE.UU",
    "ita": "ecc a.C d.C",
    "por": "etc a.C d.C",
    "nld": "enz etc v.Chr n.Chr",
    "swe": "osv etc m.m",
    "dan": "osv etc m.m",
    "nor": "osv etc",
    "pol": "itd itp r tys mln mld min sek",
    "ces": "atd apod",
    "rus": "др руб коп мин сек н.э т.д т.п",
    "ukr": "грн коп хв сек т.д т.п",
    "ell": "κ.λπ κ.ά μ.μ π.μ",
    "tur": "vb vs",
    "cym": "etc ayb",
}
"""These end a sentence before a capital letter, and at the end of a text."""
ENGLISH_MONTHS = frozenset(["Jan", "Feb", "Mar", "Apr", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec"])
"""English months as they stand before a day."""
_SAME = {"nob": "nor", "nno": "nor"}


def _by_language(table: dict[str, str]) -> Callable[[str], frozenset[str]]:
    """Return what gives the abbreviations, without their last point, of a language (ISO 639-3)."""
    names = {language: frozenset(words.split()) for language, words in table.items()}
    return lambda language: names.get(_SAME.get(language, language), frozenset())


_IN_CAPITALS = frozenset(["Mr", "Mrs", "Dr", "Prof", "St", "Sr", "Sra", "Dra", "Hr", "Mme", "Mlle", "Sig", "Dott"])
"""Titles that captions have in capital letters, *MR. LEE*; *MS*, which is also a word then, is not among them."""
_NEVER = {
    language: " ".join([names, *map(str.upper, sorted(_IN_CAPITALS.intersection(names.split())))])
    for language, names in _NEVER.items()
}

never_ending, perhaps_ending, before_numbers = map(_by_language, (_NEVER, _MAY, _BEFORE_NUMBERS))

_UNITS = frozenset(
    ["cm", "kg", "km", "m", "mg", "min", "ml", "mm", "sec", "seg", "sek", "кг", "км", "мин", "сек", "см"]
)
_NO_VOWEL = re.compile(r"(?i)[bcdfghjklmnpqrstvwxzбвгджзклмнпрстфхцчшщ]{2,6}")
_HUM = re.compile(r"(?i)[hmpst]+")
"""Sounds such as *hmm* and *psst*, which are not abbreviations."""
_SYLLABIC = frozenset(["bel", "bos", "ces", "hrv", "mkd", "slk", "slv", "srp"])
"""Languages with words that have no vowels."""
_UNCASED = frozenset(["ara", "fas", "heb", "urd"])


def is_shortened(core: str, following: str, language: str) -> bool:
    """Return whether ``core``, a word in no list, is an abbreviation within a sentence: *5 km. de*, *bzgl. der*.

    >>> is_shortened("kg", "de", "spa"), is_shortened("bzgl", "der", "deu"), is_shortened("hmm", "yes", "eng")
    (True, True, False)
    >>> is_shortened("kg", "De", "spa"), is_shortened("m", "أحمد", "ara")
    (False, False)
    """
    if language in _UNCASED:
        return len(core) == 1 and core.isalpha() and not core.isascii() and bool(following)
    if not following[:1].islower():
        return False
    has_vowel = language in _SYLLABIC or not _NO_VOWEL.fullmatch(core) or _HUM.fullmatch(core)
    return core.casefold() in _UNITS or is_letter(core, language) or not has_vowel


@cache
def spaced_abbreviations(language: str) -> re.Pattern[str] | None:
    """Return what matches abbreviations of several letters with spaces, such as *z. B.* or *EE. UU.*, in them."""
    several = (name for name in never_ending(language) | perhaps_ending(language) if "." in name)
    names = [*several, *(["U.S", "U.K"] if language == "eng" else [])]
    pattern = "|".join(re.escape(name).replace(r"\.", r"\.\s") for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![\w.])(?i:{pattern})\.") if pattern else None


@cache
def titles(language: str) -> frozenset[str]:
    """Return the abbreviations that stay capital everywhere: *Mr*, *Sr*, *Mme*."""
    return frozenset(name for name in never_ending(language) if name[0].isupper() and "." not in name)


_ALWAYS_CAPITAL = re.compile("I(?:'.*)?|Ph")
_GERMAN_WORDS = """
    aber ach acht alle alles als also am an auch auf aus bei beim bevor bis bitte da dabei dafür damit danke dann
    daran darauf daraus darf darum das dass dazu dein deine dem den denen denn der deren des deshalb deswegen die
    dies diese diesem diesen dieser doch dort drei du durch eben eigentlich ein eine einem einen einer einfach eins
    endlich er erst es etwas euch euer eure falls fast früher fünf für ganz gar gegen geh geht genau gerade gern
    gerne gestern gib ging gleich guck gut haben hallo hast hat hatte hätte hatten heute hier hinter ich ihm ihn ihr
    ihre ihrem ihren im immer in irgendwann irgendwas irgendwie ist ja jawohl jeden jeder jedes jemand jener jetzt
    kann kein keine keinen klar komm kommt können konnte könnte lass leider lieber links macht mal man manche
    manchmal mehr mein meine meinen meistens mich mir mit möchte muss musste nach nachdem naja natürlich neben nein
    neun nicht nichts nie niemand noch nun nur ob oben oder ohne okay plötzlich rechts richtig sagt sagte schau
    schon sechs sehr sein seine seinen seit sich sie sieben sind so sobald sogar solange soll sollte sonst später
    statt stimmt tja trotz trotzdem überhaupt um und ungefähr uns unser unsere unten unter viel viele vielleicht
    vier vom von vor während wahrscheinlich wann war wäre waren warte warum was wegen weil weißt weiter welche
    welcher welches wem wen wenn wer werden wie wieder wieso will wir wird wirklich wo woher wohin wohl wollte würde
    wurde zehn ziemlich zu zuerst zum zur zurück zwar zwei zwischen
"""
_GERMAN_UNCAPITALIZED = frozenset(_GERMAN_WORDS.split())
"""German words that begin a sentence and are not nouns; any other first word may be one and keeps its capital."""
_STARTERS = """
    A After All And Are As At Because But Can Could Did Do Does Don't For From Had Has Have He He's Her Here His How I
    I'd I'll I'm I've If In Is It It's Its Just Let Let's Like Maybe My No Not Now Of Oh Okay OK On One Or Our She So
    Some That That's The Their Then There There's These They They're They've This Those To Um Uh Was We We'll
    We're We've Well Were What What's She's When Where Which Who Why Will With Would Yeah Yes You You're Your
"""
_STARTING = {
    "fra": """a alors après au aussi avec bon c' ça ce ces cette comme d' dans de des donc elle elles en est et euh
        ici il ils j' je l' la le les leur ma mais mes moi mon n' ne non nous on ou où oui par parce pour puis
        quand qu' que qui s' sa ses si son sur tu un une voilà vous y""",
    "spa": """a ahora al allí aquí así aunque bueno claro como cómo con cuando de del después el él ella ellas
        ellos en entonces era es esa ese eso esta está estaba este esto fue ha hay la las le les lo los luego me mi
        muy más no nos o para pero por porque pues que qué se si sí son su sus también tiene tú un una y ya yo""",
    "ita": """a allora anche c' che chi come con così da del della di dove dopo e è ecco era gli ha ho i il in io
        l' la le lei loro lui ma mi mia mio no noi non o per perché però poi quando quella quello questa questo se
        sei si sì sono su ti tu un una voi""",
    "por": """a agora ah aí as até com como da de depois do e é ela elas ele eles em então era essa esse esta está
        este eu foi há isso já lá mas me meu minha muito na não no nós o onde os para pois por porque quando que
        quem se sem sim são só também tem um uma você""",
    "nld": """aan als dan dat de deze die dit dus een en er ga geen had heb heeft het hier hij hoe ik in is ja je
        jij kan maar me met mijn na naar nee niet nog nou nu of om ook op over te toen u uit van veel voor waar
        wanneer want wat we weet wie wij ze zij zijn zo""",
    "pol": """a ale bo był była było co czy dla do dlaczego gdy gdzie i ich ja jak jest jego jej jestem już kiedy
        kto ma mam mi my na nie no o od on ona oni ono po potem się są ta tak tam te tego ten teraz to tu ty w więc
        wy z za ze że""",
    "rus": """а без был была было были в вот все всё вы где да для его ее её ей если есть ещё еще же за и из или их
        к как когда кто ли мне мой моя мы на нас не нет ну о об он она они оно от по потом почему при с сейчас так
        там те то тогда тоже тут ты у уже что это этот эта эти я""",
}
_STARTS = (
    {"eng": frozenset(_STARTERS.split()), "deu": frozenset(map(str.capitalize, _GERMAN_UNCAPITALIZED - {"mal"}))}
    | {language: frozenset(word.capitalize() for word in words.split()) for language, words in _STARTING.items()}
)  # fmt: skip
"""Capital words that are hardly ever a part of a name; in other languages, any capital word begins a sentence behind
an abbreviation."""
_AFTER_ELISION = re.compile(r"['’][^\W\d_]")
_ELIDED = re.compile("(?<=[^\\W\\d_])['’].*")
_WORDS_OF_ONE_LETTER = {"eng": "I", "rus": "Я", "ukr": "Я", "por": "É", "ita": "È", "tur": "O"}
_ONE_LETTER = {
    "eng": "AO", "fra": "AÀYÔO", "spa": "AYEOUÓ", "ita": "AEIOÈ", "por": "AÀEOÉÓ", "nld": "U", "pol": "AIOUWZ",
    "ces": "AIKOSUVZ", "rus": "АВИКОСУЯЖБ", "ukr": "АВЗІЙОУЯЄ", "swe": "IÅÖ", "dan": "IÅØ", "nor": "IÅ", "cym": "AIOYÂ",
}  # fmt: skip
"""The words of one letter."""


def is_letter(word: str, language: str) -> bool:
    """Return whether ``word`` is a letter that is not a word of ``language``."""
    return len(word) == 1 and word.isalpha() and word.upper() not in _ONE_LETTER.get(language, "")


def is_initial(letter: str, following: str, language: str) -> bool:
    """Return whether a sentence begins with a ``letter`` that is spelled, or the initial of a name.

    >>> is_initial("A", "M", "eng"), is_initial("J", "Borges", "spa"), is_initial("Y", "Borges", "spa")
    (True, True, False)
    """
    if len(letter) != 1 or not letter.isupper() or following == "I":
        return False
    is_word = letter in _ONE_LETTER.get(language, letter)
    return following[:1].isupper() and (len(following) == 1 or not is_word)


def is_letter_word(core: str, language: str) -> bool:
    """Return whether a capital letter is a word that ends sentences: *I* in English."""
    return core == _WORDS_OF_ONE_LETTER.get(language)


def uncapitalized(word: str, language: str) -> str:
    """Return the first ``word`` of a sentence as CHAT writes it, which capitalizes names only, and German nouns.

    >>> uncapitalized("The", "eng"), uncapitalized("I", "eng"), uncapitalized("I", "ita"), uncapitalized("NATO", "eng")
    ('the', 'I', 'i', 'NATO')
    >>> uncapitalized("Der", "deu"), uncapitalized("Hund", "deu")
    ('der', 'Hund')
    >>> uncapitalized("McDonald", "eng"), uncapitalized("TVs", "eng"), uncapitalized("L'Italie", "fra")
    ('McDonald', 'TVs', "l'Italie")
    >>> uncapitalized("Ilık", "tur"), uncapitalized("IJs", "nld")
    ('ılık', 'ijs')
    """
    if not word[:1].isupper() or (len(word) > 1 and word.isupper()):
        return word
    if word in titles(language):
        return word
    if language == "eng" and (_ALWAYS_CAPITAL.fullmatch(word) or (len(word) == 1 and word not in _ONE_LETTER["eng"])):
        return word
    if language == "deu" and word.lower() not in _GERMAN_UNCAPITALIZED:
        return word
    if language in ("tur", "aze") and word[0] in "Iİ":
        return ("ı" if word[0] == "I" else "i") + word[1:]
    if language == "nld" and word.startswith("IJ"):
        return f"ij{word[2:]}"
    inside = word[1:] if language == "eng" else _AFTER_ELISION.sub("", word[1:])
    return word if any(map(str.isupper, inside)) else word[0].lower() + word[1:]


def begins_sentence(word: str, language: str) -> bool:
    """Return whether a sentence may begin with ``word`` behind the abbreviation before it.

    >>> [begins_sentence(word, "eng") for word in ("They", "Army", "they")], begins_sentence("Es", "spa")
    ([True, False, False], True)
    >>> begins_sentence("Borges", "spa"), begins_sentence("Virtanen", "fin")
    (False, True)
    """
    if not word[:1].isupper():
        return False
    starts = _STARTS.get(language)
    return starts is None or word in starts or _ELIDED.sub("'", word) in starts
