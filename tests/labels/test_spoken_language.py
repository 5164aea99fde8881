"""What plain words show in languages other than English, and speaker codes in labels."""

import re
import sys

import pytest

from lsa_whisper.labels import Labels, decode
from lsa_whisper.scoring.normalize import normalize

FILLERS_CAPITALS_AND_NUMBERS = [
    ("spa", "Eh, quiero quiero 21 perros.", "&-eh quiero [/] quiero veintiún perros ."),
    ("spa", "Este perro.", "este perro ."),
    ("fra", "Euh, je je veux 3 chats.", "&-euh je [/] je veux trois chats ."),
    ("deu", "Äh, um drei kommt er er heim.", "&-äh um drei kommt er [/] er heim ."),
    ("deu", "Der Hund bellt.", "der Hund bellt ."),
    ("deu", "Hunde bellen.", "Hunde bellen ."),
    ("ita", "Ehm, I bambini hanno 2 cani.", "&-ehm i bambini hanno due cani ."),
    ("nld", "Uh, er zijn 2 honden.", "&-uh er zijn twee honden ."),
    ("jpn", "えーと 犬 が いる.", "&-えーと 犬 が いる ."),
    ("jpn", "犬 が 3 匹.", "犬 が 三 匹 ."),
    ("zho", "呃 我 要 3 个.", "&-呃 我 要 3 个 ."),
    ("yue", "呃 我 要 3 个.", "&-呃 我 要 3 个 ."),
    ("fin", "Minä öö haluan 3.", "minä &-öö haluan kolme ."),
    ("kor", "저는 음 좋아요.", "저는 &-음 좋아요 ."),
    ("nob", "Jeg øh vil.", "jeg &-øh vil ."),
    ("heb", "אה 3 כלבים.", "&-אה שלוש כלבים ."),
    ("eng", "Um, I want 3 dogs.", "&-um I want three dogs ."),
]

SAID_TWICE_ON_PURPOSE = [
    ("deu", "Nein nein nein, das ist sehr sehr groß.", "nein nein nein das ist sehr sehr groß ."),
    ("deu", "Ja ja, ich ich will.", "ja ja ich [/] ich will ."),
    ("fra", "Nous nous lavons, oui oui.", "nous nous lavons oui oui ."),
    ("spa", "Sí sí, muy muy grande.", "sí sí muy muy grande ."),
    ("ita", "Piano piano, il il cane.", "piano piano il [/] il cane ."),
    ("por", "Muito muito grande.", "muito muito grande ."),
    # articles and prepositions that are spelled like what English repeats on purpose
    ("spa", "La la niña, la- la casa, muy muy bien.", "la [/] la niña la [/] la casa muy muy bien ."),
    ("fra", "La la maison, bye bye.", "la [/] la maison bye bye ."),
    ("ita", "La la la. La la casa.", "la la la . la [/] la casa ."),
    ("por", "No no carro, na na casa.", "no [/] no carro na [/] na casa ."),
    ("pol", "Na na stole, tak tak.", "na [/] na stole tak tak ."),
    ("eng", "La la la, said the bird.", "la la la said the bird ."),
    ("nld", "Ja ja, heel heel groot.", "ja ja heel heel groot ."),
    ("rus", "Да да, очень очень.", "да да очень очень ."),
    ("jpn", "はい はい。", "はい はい ."),
    ("ara", "لا لا، أنا أنا هنا.", "لا لا أنا [/] أنا هنا ."),
    ("ell", "Ναι ναι, το το σκυλί.", "ναι ναι το [/] το σκυλί ."),
]


ENDS_OF_SENTENCES = [
    # days of the week, and abbreviations in a row
    ("deu", "Mo.-Fr. von 8 bis 9, Sa. 9-12 Uhr, So. zu.", "Mo bis Fr von acht bis neun Sa neun bis zwölf Uhr So zu ."),
    ("deu", "Dipl.-Ing. Müller. Das ist so. Ja.", "Dipl Ing Müller . das ist so . ja ."),
    (
        "eng",
        "On Mon.-Fri. from 9 and on Sat. too. In Jan. it snows.",
        "on Mon Fri from nine and on Sat too . in Jan it snows .",
    ),
    ("eng", "I like the sun. He sat. See Jan. He ran.", "I like the sun . he sat . see Jan . he ran ."),
    ("ell", "Στις 3 μ.μ. και 10 π.μ. χθες.", "στις 3 μ μ και 10 π μ χθες ."),
    # initials and letters that are spelled
    ("eng", "I know J. R. R. Tolkien. A. A. Milne.", "I know J R R Tolkien . A A Milne ."),
    ("eng", "A.M. or P.M.? A I mean B.", "A M or P M ? a I mean B ."),
    ("eng", "R&D at AT&T, it is I. Me.", "R and D at AT and T it is I . me ."),
    ("eng", "Is it K. or J.? In the U.S.? No.", "is it K or J ? in the U S ? no ."),
    ("spa", "Me llamo J. L. Borges. Es el plan B. Luego.", "me llamo J L Borges . es el plan B . luego ."),
    ("fra", "J.-P. Sartre. J.K. Rowling. La S.N.C.F. L'ami.", "J P Sartre . J K Rowling . la S N C F . l'ami ."),
    ("rus", "А. С. Пушкин. Это А. В. Ким. Я. Он тут.", "А С Пушкин . это А В Ким . я . он тут ."),
    ("por", "Veio o J. K. Silva? É. Ela veio.", "veio o J K Silva ? é . ela veio ."),
    ("tur", "Kim? O. Ben.", "kim ? o . ben ."),
    # abbreviations
    ("eng", "Fig. 3 and Sec. 2. A fig. It is.", "fig three and Sec two . a fig . it is ."),
    ("deu", "Ludwig XIV. war da. Auf S. 7, Abb. 3.", "Ludwig XIV war da . auf S sieben Abb drei ."),
    ("deu", "5 Mio. Euro. Es waren 5 Mio. Die kamen.", "fünf Millionen Euro . es waren fünf Millionen . die kamen ."),
    ("deu", "3 Tsd. Euro, 1,5 Tsd. Leute.", "dreitausend Euro eins Komma fünf tausend Leute ."),
    ("deu", "Nr. 7: 2 Std. und 1 Min. auf 5 m².", "Nummer sieben zwei Stunden und eine Minute auf fünf Quadratmeter ."),
    ("fra", "1,5 Md d'euros, 20 m².", "un virgule cinq milliards d'euros vingt mètres carrés ."),
    ("spa", "1 m² y 20 m².", "un metro cuadrado y veinte metros cuadrados ."),
    ("deu", "& dann, & so.", "und dann und so ."),
    ("ita", "Mi piace, ad es. questo.", "mi piace ad es questo ."),
    ("spa", "Vino Vd. y se fue.", "vino Vd y se fue ."),
    ("pol", "O godz. 5 w 5 r. ktoś był. W 5 r. On był.", "o godz pięć w pięć r ktoś był . w pięć r . on był ."),
    ("rus", "В 5 г. он жил в г. Омск. Было в 5 г. Да.", "в пять г он жил в г Омск . было в пять г . да ."),
    ("rus", "Дом на ул. Мира, д. 5, за 5 руб. или 6.", "дом на ул Мира д пять за пять руб или шесть ."),
    ("cym", "Dr. Jones a Mrs. Rees.", "Dr Jones a Mrs Rees ."),
    ("spa", "Vino de EE. UU., p.ej., de Texas.", "vino de EE UU p ej de Texas ."),
    ("spa", "Compré 5 kg. de pan del s. XX. Hmm. Sí.", "compré cinco kilos de pan del s veinte . hmm . sí ."),
    ("fra", "M. et Mme Martin, à 5 min. d'ici.", "M et Mme Martin à cinq minutes d'ici ."),
    ("deu", "In der Hauptstr. 12, dann Kantstr. Da ist es.", "in der Hauptstr zwölf dann Kantstr . da ist es ."),
    ("spa", "El n.º 5. Ya.", "el número cinco . ya ."),
    ("deu", "Es ist bzgl. der Stadt, s. o.", "es ist bzgl der Stadt s o ."),
    ("ara", "د. أحمد، م. علي.", "د أحمد م علي ."),
    (
        "deu",
        "Nach 2 Std. 30 Min. Pause. Es dauert 5 Min. Dann.",
        "nach zwei Stunden dreißig Minuten Pause . es dauert fünf Minuten . dann .",
    ),
    # fillers
    ("pol", "Yyy... ja, eee, chcę.", "&-yyy (.) ja &-eee chcę ."),
    ("rus", "Э-э... я, э, хочу.", "&-э-э (.) я &-э хочу ."),
    ("tur", "Ben, ııı, geldim.", "ben &-ııı geldim ."),
]


NUMBERS_AND_SIGNS = [
    ("eng", "x = y", "x equals y ."),
    ("eng", "I like C# a lot.", "I like C sharp a lot ."),
    ("ita", "Sono le 8.30.", "sono le otto trenta ."),
    ("spa", "El siglo XX fue largo.", "el siglo veinte fue largo ."),
    ("deu", "Um 14.30 Uhr im Mai 1984.", "um vierzehn Uhr dreißig im Mai neunzehnhundertvierundachtzig ."),
    ("deu", "Die 90er, 20 °C, -5° und ½ Liter.",
     "die neunziger zwanzig Grad Celsius minus fünf Grad und ein halb Liter ."),
    ("nld", "Om 14.30 uur in 1984, de 2de.", "om veertien uur dertig in negentienhonderd vierentachtig de tweede ."),
    ("dan", "Det er kl. 14.30.", "det er kl fjorten tredive ."),
    ("fra", "N° 5, 1½ et 20℃.", "numéro cinq un et un demi et vingt degrés Celsius ."),
    ("spa", "En el siglo XX, el 1ro y la 2da.", "en el siglo veinte el primero y la segunda ."),
    ("ita", "Il 1° maggio, 20° fuori.", "il primo maggio venti gradi fuori ."),
    ("pol", "XX wiek, 5 $ i № 3.", "dwudziesty wiek pięć dolarów i numer trzy ."),
    ("rus", "В 90-е, 5-го мая, 1-й и 2-я, XX век.", "в девяностые пятого мая первый и вторая двадцатый век ."),
    ("rus", "№ 5 за 3 ₽.", "номер пять за три рублей ."),
    ("tur", "%50, 1984'te, saat 14.30'da, 3 ₺.",
     "yüzde elli bin dokuz yüz seksen dörtte saat on dört otuzda üç lira ."),
    ("ara", "٥٠٪ و ٣٫٥ و ١٬٠٠٠.", "خمسون بالمئة و ثلاثة فاصلة خمسة و ألف ."),
    ("heb", "5 ₪.", "חמש שקלים ."),
    ("jpn", "20℃。", "二十 度 ."),
    ("cym", "Mae'n costio £5, y 1af.", "mae'n costio pump punt y cyntaf ."),
    # one number, however it is parted: no repetition, and no sign is lost
    ("deu", "Es steht 2:2, 0:0 und 2 - 2, 50/50.", "es steht zwei zwei null null und zwei zwei fünfzig fünfzig ."),
    ("fra", "Le 10/10/2010, 2/2.", "le dix dix deux mille dix deux deux ."),
    ("deu", "10-12 % und 5-6 €.", "zehn bis zwölf Prozent und fünf bis sechs Euro ."),
    ("deu", "Es sind -5 Grad.", "es sind minus fünf Grad ."),
    ("spa", "-5° o -3.", "menos cinco grados o menos tres ."),
    ("nld", "Het is -5.", "het is min vijf ."),
    ("deu", "Eine 2er-Gruppe, die 90er.", "eine zweier Gruppe die neunziger ."),
    ("fra", "Le 1er.", "le premier ."),
    ("deu", "Von 8-10, 10-12 Uhr, 8:30-10:00 Uhr.",
     "von acht bis zehn zehn bis zwölf Uhr acht Uhr dreißig bis zehn Uhr ."),
    ("deu", "S. 3-5, 2-2, 3-1.", "S drei bis fünf zwei zwei drei eins ."),
    ("spa", "De 8-10, 5-10 % y 1990-1995.", "de ocho a diez cinco a diez por ciento y mil novecientos noventa a mil "
     "novecientos noventa y cinco ."),
    ("fra", "De 8h-10h, 10-15 personnes.", "de huit heures à dix heures dix à quinze personnes ."),
    # fractions, arithmetic, units
    ("deu", "1/3, 3/4 Stunde, 1 1/2 Liter.", "ein drittel drei viertel Stunde eins und ein halb Liter ."),
    ("spa", "1/3, 2/3 y 3/4 de hora, 2 1/2.", "un tercio dos tercios y tres cuartos de hora dos y medio ."),
    ("fra", "1/3, 2/3, 1/4, 3/4 d'heure.", "un tiers deux tiers un quart trois quarts d'heure ."),
    ("deu", "2+2=4, 5 - 3 = 2, 4 x 3 = 6, 10 : 2 = 5.", "zwei plus zwei gleich vier fünf minus drei gleich zwei "
     "vier mal drei gleich sechs zehn durch zwei gleich fünf ."),
    ("spa", "2+2=4.", "dos más dos igual a cuatro ."),
    ("fra", "3 x 2 = 6.", "trois fois deux égale six ."),
    ("deu", "3 km, 80 km/h, 1,5 kg, 1 min, 0,5 l.", "drei Kilometer achtzig Stundenkilometer eins Komma fünf Kilogramm "
     "eine Minute null Komma fünf Liter ."),
    ("spa", "1 km, 20 cm y 90 km/h.", "un kilómetro veinte centímetros y noventa kilómetros por hora ."),
    ("fra", "100 m, 2 kg, le 5 l'ami, le 5 m'a vu.", "cent mètres deux kilos le cinq l'ami le cinq m'a vu ."),
    ("nld", "10-12 dagen, 3/4 liter, 5 km in 25 min, 1 min, 60 km/u en 5 + 3 = 8.", "tien tot twaalf dagen drie kwart "
     "liter vijf kilometer in vijfentwintig minuten één minuut zestig kilometer per uur en vijf plus drie is acht ."),
    ("ita", "Dura 10-12 giorni, 3/4 di litro, 5 km, 1 km, 25 min e 4 x 4.", "dura dieci dodici giorni tre quarti di "
     "litro cinque chilometri un chilometro venticinque minuti e quattro per quattro ."),
    ("por", "10-12 dias, 2/3, 5 kg, 1 km, 91234-5678.", "dez a doze dias dois terços cinco quilos um quilômetro "
     "nove um dois três quatro cinco seis sete oito ."),
    ("deu", "¼ Liter, 3x am Tag, 3x4 m.", "ein viertel Liter drei mal am Tag drei mal vier Meter ."),
    ("spa", "3x al día, 1x y 1 vez por $20 pesos.", "tres veces al día una vez y una vez por veinte pesos ."),
    ("fra", "1 heure, 21 minutes, 1 fois et 1 euro.", "une heure vingt et une minutes une fois et un euro ."),
    ("eng", "I have $5 dollars, a $20 dollar bill, $3 million dollars.",
     "I have five dollars a twenty dollar bill three million dollars ."),
    ("eng", "2x as big, 4x4, 1x.", "two times as big four by four one time ."),
    ("eng", "I had 2 x-rays, and 2x + 3.", "I had two x-rays and two x plus three ."),
    # dates and ordinal numbers
    ("deu", "Am 1. und 2. Mai, der 1. und 2. Mann.", "am ersten und zweiten Mai der erste und zweite Mann ."),
    ("spa", "El 1er día.", "el primer día ."),
    ("deu", "Am 24.12. kam er am 3.5.", "am vierundzwanzigsten zwölften kam er am dritten fünften ."),
    ("deu", "Zum 3. Mal in der 2. Klasse, vor seinem 5. Geburtstag.",
     "zum dritten Mal in der zweiten Klasse vor seinem fünften Geburtstag ."),
    ("deu", "Vom 3.-5. Mai, vom 1. – 3. Juli, 3./4. Juni.",
     "vom dritten bis fünften Mai vom ersten bis dritten Juli dritte vierte Juni ."),
    ("dan", "Den 3.-5. maj.", "den tredje femte maj ."),
    ("spa", "El 15/03/2020, el 3.er piso, la 1era.", "el quince tres dos mil veinte el tercer piso la primera ."),
    ("fra", "Le 05/03/2020.", "le cinq trois deux mille vingt ."),
    # ordinal numbers that are not known are cardinal
    ("kor", "200e", "이백 ."),
    ("pol", "0e", "zero ."),
    ("ukr", "0e", "нуль ."),
    # paragraphs
    ("eng", "Section § 5, §§ 3 and 4.", "section five sections three and four ."),
    ("deu", "Nach § 5 Abs. 2, §§ 3 und 4.", "nach Paragraf fünf Abs zwei Paragrafen drei und vier ."),
    ("fra", "Le § 5.", "le paragraphe cinq ."),
    # amounts
    ("deu", "12,50 Euro, 0,99 €, 5 EUR, 1'000 Franken, 1 Million.",
     "zwölf Euro fünfzig neunundneunzig Cent fünf Euro eintausend Franken eine Million ."),
    ("spa", "0,50 €, 2,20 euros.", "cincuenta céntimos dos euros con veinte ."),
    ("fra", "0,80 € et 3,40 euros.", "quatre vingts centimes et trois euros quarante ."),
    ("spa", "21 niños, 200 niñas, 31 días, los 21 vamos.",
     "veintiún niños doscientas niñas treinta y un días los veintiuno vamos ."),
    ("deu", "1 Katze, 1 Junge, 1 Hund.", "eine Katze ein Junge ein Hund ."),
    ("fra", "01.23.45.67.89.", "zéro un vingt trois quarante cinq soixante sept quatre vingt neuf ."),
    ("spa", "600 123 456, 650 000 000.",
     "seis cero cero uno dos tres cuatro cinco seis seiscientos cincuenta millones ."),
    # telephone numbers are not millions, and their area codes are not pauses
    ("deu", "Ruf 0171 123456, (030) 3030 oder +49 30 1234 an.",
     "Ruf null eins sieben eins eins zwei drei vier fünf sechs null drei null drei null drei null oder "
     "neunundvierzig dreißig eins zwei drei vier an ."),
    ("fra", "Le 06 12 34 06 06.", "le zéro six douze trente quatre zéro six zéro six ."),
    ("por", "(11) 91234-5678.", "onze nove um dois três quatro cinco seis sete oito ."),
    ("ita", "333 1234567.", "tre tre tre uno due tre quattro cinque sei sette ."),
    ("jpn", "電話は03-1234-5678です。", "電話は 零 三 一 二 三 四 五 六 七 八 です ."),
    ("deu", "Es waren 1 000 000 in 1914 1918 1945.",
     "es waren eine Million in neunzehnhundertvierzehn neunzehnhundertachtzehn neunzehnhundertfünfundvierzig ."),
    # one before hours, money and degrees
    ("fra", "À 1h, 21h et 1:30.", "à une heure vingt et une heures et une heure trente ."),
    ("por", "À 1h e às 22h.", "à uma hora e às vinte e duas horas ."),
    ("deu", "Um 1 Uhr, 1 Jahr, ich 1.", "um ein Uhr ein Jahr ich eins ."),
    ("spa", "1 hermano y 1 hermana, 1 para ti.", "un hermano y una hermana uno para ti ."),
    ("ita", "1 gatto e 1 casa, 1 volta.", "un gatto e una casa una volta ."),
    ("por", "1 gato e 1 casa.", "um gato e uma casa ."),
    ("spa", "1 año, 21 años, 21 €, 1 hora.", "un año veintiún años veintiún euros una hora ."),
    # the number of a thing is not how many there are of it
    ("spa", "El número 1 llega, capítulo 1 trata.", "el número uno llega capítulo uno trata ."),
    ("por", "Fase 1 começa com 2 meninas, 200 casas, 2 mas não.",
     "fase um começa com duas meninas duzentas casas dois mas não ."),
    ("cat", "1 nena a les 15h.", "una nena a les quinze hores ."),
    ("swe", "Den 1:a maj, den 3:e.", "den första maj den tredje ."),
    ("deu", "Ruf die 110 an, die 110 Kinder.", "Ruf die eins eins null an die einhundertzehn Kinder ."),
    ("vie", "50%.", "50 phần trăm ."),
    ("ind", "50 %.", "lima puluh persen ."),
    ("spa", "Número 1, a las 21:30.", "número uno a las veintiuna treinta ."),
    ("deu", "Um 1:30 Uhr für 1 € bei 1°.", "um ein Uhr dreißig für ein Euro bei ein Grad ."),
    ("spa", "A la 1:30 por 1 € y 1 £.", "a la una treinta por un euro y una libra ."),
    # digits stay, but no sign is lost and no sentence ends in a number
    ("zho", "3.5公斤，1,000人，20°C，14:30，¥5。", "3点5公斤 1000人 20度 14点30分 5元 ."),
    ("ell", "5 €, 3,5 στις 14:30, τον 20ό, 20°C.", "5 ευρώ 3 κόμμα 5 στις 14 30 τον 20ό 20 βαθμοί Κελσίου ."),
    ("hin", "₹500 और 3:30 बजे।", "500 रुपये और 3 30 बजे ."),
]  # fmt: skip

CHARACTERS_THAT_MEAN_THE_SAME = [
    ("eng", "\u200fHello\u200b, ﬁne so\u00adfa. 👍 Great.", "hello fine sofa . great ."),
    ("eng", "‘Hello,’ she said. 'I do.' 'Cause the dogs' bones.", "hello she said . I do . 'Cause the dogs' bones ."),
    ("eng", "Ｈｅｌｌｏ！ e\u0301t\u00e9", "hello ! \u00e9t\u00e9 ."),
    ("heb", 'צה"ל אמר "כן" בבית־ספר.', "צה״ל אמר כן בבית-ספר ."),
    ("ara", "مـــرحبا.", "مرحبا ."),
    ("tur", "İyi. Ilık. Şu.", "iyi . ılık . şu ."),
    ("nld", "IJs is koud.", "ijs is koud ."),
    # words whose second part follows
    ("deu", "Haus- und Gartenarbeit, ein-, zweimal.", "Haus und Gartenarbeit ein zweimal ."),
    ("deu", "Ich ha- und dann ha- habe.", "ich &+ha und dann &+ha habe ."),
    ("nld", "De voor- en nadelen.", "de voor en nadelen ."),
    ("eng", "Two- and three-year-olds, the sto- and home.", "two and three-year-olds the &+sto and home ."),
    ("eng", "WHO IS MR. LEE? DR. EYE. She has MS. It hurts.", "WHO IS MR LEE ? DR EYE . she has MS . it hurts ."),
    # words that are cut off, but whole beside another copy
    ("eng", "I- I- I- want the- the dog.", "I [/] I [/] I want the [/] the dog ."),
    ("eng", "He- um he's the, the- so.", "he [//] &-um he's the [/] the so ."),
    ("eng", "No- no, he- she ran, wan- wan- want.", "&+no no &+he she ran ↫wan-wan↫want ."),
    ("deu", "Das- das Haus, ich- ich- ich.", "das [/] das Haus ich [/] ich [/] ich ."),
    # parts of words and long fillers
    ("eng", "Th... the dog. Wh\u2014what? St. Mary.", "&+th (.) the dog . &+wh what ? St Mary ."),
    ("rus", "В... вода, п... пока.", "в (.) вода &+п (.) пока ."),
    ("eng", "Ummm, I, uhhh, hmmmm, go.", "&-ummm I &-uhhh &-hmmmm go ."),
    ("eng", "I spell h e l l o.", "I spell h e l l o ."),
    # points within words, signs
    ("ita", "La dott.ssa Bianchi, a@b.it.", "la dott ssa Bianchi a chiocciola b punto it ."),
    ("eng", "He/she did. It is his/her and/or A/B.", "he or she did . it is his or her and or A B ."),
    # colons within words, capitals within them, brackets around sounds
    ("deu", "Die Schüler:innen.", "die Schülerinnen ."),
    ("fin", "EU:n ja USA:ssa.", "EUn ja USAssa ."),
    (
        "eng",
        "TVs are on. McDonald did. Note:this. J. J. Abrams.",
        "TVs are on . McDonald did . note this . J J Abrams .",
    ),
    ("fra", "L'Italie. McDo.", "l'Italie . McDo ."),
    (
        "eng",
        "(laughs) Yes. *sighs* [ Laughter ] No (upbeat music) [silence].",
        "&=laughs yes . &=sighs &=laughs no &=music .",
    ),
    ("deu", "Ja.Nein. Auf web.de.", "ja . nein . auf web Punkt de ."),
    ("rus", "На yandex.ru. да.нет", "на yandex точка ru . да . нет ."),
    ("eng", "C++ and C#. x² + y² = z.", "C plus-plus and C sharp . x squared plus y squared equals z ."),
    ("eng", "W/o it b/c I said so, w/ her.", "without it because I said so with her ."),
    ("eng", "60 Hz, ⅛ cup, 5⅝ at Apt. 4.", "sixty hertz one eighth cup five and five eighths at Apt four ."),
    (
        "eng",
        "5 ft. 4 in. tall, 8 in. by 1 ft. of it. He let 5 in. So.",
        "five feet four inches tall eight inches by one foot of it . he let five in . so .",
    ),
    (
        "eng",
        "1-2-3, call ext. 5, a max. of 9, May 5th-7th.",
        "one two three call ext five a max of nine May fifth to seventh .",
    ),
    (
        "eng",
        "On Jan. 5, Feb. 3rd, 1990-95, H₂O, 5 million $.",
        "on January fifth February third nineteen ninety to ninety five H two O five million dollars .",
    ),
    (
        "eng",
        "He is a.k.a. Bob, 3 L's. 5 m's in 100m of it, at t8m.",
        "he is a k a Bob three L's . five m's in one hundred meters of it at t eight m .",
    ),
    (
        "deu",
        "3,5 Mio. € um 15:30 h, 5,- €, #1, 2 Tsd. 500 v. Chr. war.",
        "drei Komma fünf Millionen Euro um fünfzehn Uhr dreißig fünf Euro Nummer eins zweitausend fünfhundert v "
        "Chr war .",
    ),
    (
        "fra",
        "3,5 millions d'€, 2 000 000 €, 500 av. J.-C. oui.",
        "trois virgule cinq millions d'euros deux millions d'euros cinq cents av J C oui .",
    ),
    ("spa", "3.000.000 $ y 3 mil € a las 15:30 h.", "tres millones de dólares y tres mil euros a las quince treinta ."),
    ("ita", "1 mld di euro.", "un miliardo di euro ."),
    ("nld", "3 mln. euro aan St. Nicolaas.", "drie miljoen euro aan St Nicolaas ."),
    ("fin", "Esim. tämä.", "esim tämä ."),
    ("eng", "See https://a.com/b?c=d&e now.", "see http a dot com slash b c d e now ."),
]


SKIPPED_OVER = [*ENDS_OF_SENTENCES, *NUMBERS_AND_SIGNS, *CHARACTERS_THAT_MEAN_THE_SAME]
"""What has texts that skip rules."""


@pytest.mark.parametrize(
    ("language", "written", "tiers"), [*FILLERS_CAPITALS_AND_NUMBERS, *SAID_TWICE_ON_PURPOSE, *SKIPPED_OVER]
)
def test_plain_words_become_chat(language, written, tiers):
    assert " ".join(one.text for one in decode(written, Labels("verbatim"), language=language).utterances) == tiers


def test_texts_that_skip_rules_would_pass_them_unchanged(monkeypatch):
    texts = [(language, written) for language, written, _ in SKIPPED_OVER]

    def read():
        sys.modules["lsa_whisper.labels.sentence_marks"].read_marks.cache_clear()
        found = (decode(written, Labels("verbatim"), language=language) for language, written in texts)
        return [[one.text for one in each.utterances] for each in found]

    with_skips = read()
    for module in ("decode", "sentence_marks"):
        monkeypatch.setattr(sys.modules[f"lsa_whisper.labels.{module}"], "plain_sentence", lambda *_: None)
    always = re.compile("")
    monkeypatch.setattr("lsa_whisper.labels.numbers._ANY_SIGN", always)
    for name in ("_REPAIRABLE", "_SPOKEN_SIGN"):
        monkeypatch.setattr(f"lsa_whisper.labels.repair.{name}", always)
    monkeypatch.setattr("lsa_whisper.labels.infer_marks._long_sound", lambda _: always)
    rules = sys.modules["lsa_whisper.labels.english_numbers"]._RULES
    without_signs = tuple((frozenset(), pattern, speak) for _, pattern, speak in rules)
    monkeypatch.setattr("lsa_whisper.labels.english_numbers._RULES", without_signs)
    assert read() == with_skips


@pytest.mark.parametrize("filler", ["&-euh", "&-este", "&-äh", "&-えーと", "&-אה"])
def test_marked_fillers_survive_in_every_style_that_keeps_them(filler):
    (spoken,) = decode(f"{filler} a .", Labels("chat", version=1), language="spa").utterances
    assert spoken.text == f"{filler} a ." and spoken.events()[0].kind == "filled_pause"


@pytest.mark.parametrize("code", ["CHI", "206", "Theo", "F_A_T", "INV1"])
def test_speaker_codes_are_read_back(code):
    (spoken,) = decode(f"*{code}: um hello.", Labels("chat", roles=True)).utterances
    assert (spoken.speaker, spoken.text) == (code, "&-um hello .")


def test_words_of_scripts_without_spaces_are_scored_by_character():
    assert normalize(["我", "想要", "小狗-"]) == ["我", "想", "要", "小", "狗-"]
    assert normalize(["いぬ", "T恤", "dog"]) == ["い", "ぬ", "t", "恤", "dog"]
    assert normalize(["собака", "chien", "xxx"]) == ["собака", "chien", "xxx"]
