"""CHAT's language codes (ISO 639-3) -> the codes Whisper knows."""

from __future__ import annotations

_PAIRS = """
eng en  zho zh  cmn zh  deu de  spa es  rus ru  kor ko  fra fr  jpn ja  por pt  tur tr  pol pl  cat ca  nld nl  ara ar
arb ar  swe sv  ita it  ind id  hin hi  fin fi  vie vi  heb he  ukr uk  ell el  msa ms  zsm ms  ces cs  ron ro  dan da
hun hu  tam ta  nor no  nob no  tha th  urd ur  hrv hr  bul bg  lit lt  lat la  mri mi  mal ml  cym cy  slk sk  tel te
fas fa  pes fa  lav lv  lvs lv  ben bn  srp sr  aze az  azj az  slv sl  kan kn  est et  ekk et  mkd mk  bre br  eus eu
isl is  hye hy  nep ne  npi ne  mon mn  khk mn  bos bs  kaz kk  sqi sq  swa sw  swh sw  glg gl  mar mr  pan pa  sin si
khm km  sna sn  yor yo  som so  afr af  oci oc  kat ka  bel be  tgk tg  snd sd  guj gu  amh am  yid yi  ydd yi  lao lo
uzb uz  uzn uz  fao fo  hat ht  pus ps  tuk tk  nno nn  mlt mt  san sa  ltz lb  mya my  bod bo  tgl tl  fil tl  mlg mg
plt mg  asm as  tat tt  haw haw  lin ln  hau ha  bak ba  jav jw  sun su  yue yue
"""
_WHISPER = dict(pair.split() for line in _PAIRS.strip().splitlines() for pair in line.split("  "))


def whisper_language(code: str) -> str:
    """Return Whisper's code for the ISO 639-3 ``code``; a language Whisper does not know keeps its own.

    >>> whisper_language("eng"), whisper_language("jav"), whisper_language("vec")
    ('en', 'jw', 'vec')
    """
    return _WHISPER.get(code, code)
