"""CHAT names languages with three letters (ISO 639-3), Whisper mostly with two."""

from __future__ import annotations

_TABLE = """
afr af amh am ara ar asm as aze az bak ba bel be ben bn bod bo bos bs bre br bul bg cat ca ces cs cym cy dan da deu
de ell el eng en est et eus eu fao fo fas fa fin fi fra fr glg gl guj gu hat ht hau ha haw haw heb he hin hi hrv hr
hun hu hye hy ind id isl is ita it jav jw jpn ja kan kn kat ka kaz kk khm km kor ko lao lo lat la lav lv lin ln lit
lt ltz lb mal ml mar mr mkd mk mlg mg mlt mt mon mn mri mi msa ms mya my nep ne nld nl nno nn nor no oci oc pan pa
pol pl por pt pus ps ron ro rus ru san sa sin si slk sk slv sl sna sn snd sd som so spa es sqi sq srp sr sun su swa
sw swe sv tam ta tat tt tel te tgk tg tgl tl tha th tuk tk tur tr ukr uk urd ur uzb uz vie vi yid yi yor yo yue yue
zho zh
"""
_PAIRS = _TABLE.split()
_TO_WHISPER = dict(zip(_PAIRS[::2], _PAIRS[1::2], strict=True))
_TO_CHAT = {short: long for long, short in _TO_WHISPER.items()}


def whisper_code(language: str) -> str:
    """Return Whisper's code of a language; a code this table does not know is given back as it is.

    >>> whisper_code("eng"), whisper_code("en"), whisper_code("yue")
    ('en', 'en', 'yue')
    """
    return _TO_WHISPER.get(language.lower(), language.lower())


def chat_code(language: str) -> str:
    """Return CHAT's code of a language; a code this table does not know is given back as it is.

    >>> chat_code("en"), chat_code("spa")
    ('eng', 'spa')
    """
    return _TO_CHAT.get(language.lower(), language.lower())
