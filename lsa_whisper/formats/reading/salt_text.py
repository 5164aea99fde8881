"""The text of a SALT utterance as CHAT, by SALT's published transcription conventions (saltsoftware.com).

Words with their bound morphemes apart (``carry/ed``) become words as they are spelled. What has no counterpart in CHAT,
such as an error code, is returned as a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lsa_whisper.chat.filled_pauses import FILLERS
from lsa_whisper.formats.reading.brackets import NO_FILLERS, mark_maze
from lsa_whisper.labels.repair import repair_text

_VOWELS = "aeiou"
_DOUBLED = re.compile(r"[^aeiou][aeiou][bdgklmnprt]$")
_CONTRACTIONS = {
    **{f"{mark}{verb}": f"'{verb}" for verb in ("ll", "m", "re", "ve") for mark in ("'", "")}, "h've": "'ve",
    **dict.fromkeys(("'s", "'us", "us", "h's", "d's"), "'s"), **dict.fromkeys(("'d", "h'd", "d'd"), "'d"),
}  # fmt: skip
_NEGATIONS = ("n't", "'nt", "'t", "nt")
_NEGATED = {"can": "can't", "ca": "can't", "will": "won't", "wo": "won't", "shall": "shan't", "sha": "shan't"}
_INFLECTIONS = ("ed", "en", "ing", "er", "est", "y")
_DERIVATIONS = ("ly", "ness", "ful", "less", "ment")


def join_morphemes(word: str) -> str:
    """Return ``word`` without slashes, spelled as in English.

    >>> [join_morphemes(word) for word in ("dog/s", "baby/s", "carry/ed", "run/ing", "make/ing", "go/3s", "mom/z")]
    ['dogs', 'babies', 'carried', 'running', 'making', 'goes', "mom's"]
    >>> [join_morphemes(word) for word in ("do/n't", "he/'s", "let/'us", "dog/s/z", "kick/ed", "fall/en", "can/'nt")]
    ["don't", "he's", "let's", "dogs'", 'kicked', 'fallen', "can't"]
    >>> [join_morphemes(word) for word in ("mud/y", "gentle/ly", "happy/ly", "full/ly", "kid/'z", "noise/y", "big/est")]
    ['muddy', 'gently', 'happily', 'fully', "kid's", 'noisy', 'biggest']
    >>> [join_morphemes(word) for word in ("GO/3S", "TV/s", "I/'ll", "you/re", "lie/ing", "have/3s")]
    ['GOES', 'TVs', "I'll", "you're", 'lying', 'has']
    """
    root, *morphemes = word.split("/")
    capital = len(root) > 1 and word.isupper()
    root = root.lower() if capital else root
    for morpheme in morphemes:
        root = _joined(root, morpheme)
    return root.upper() if capital else root


def _joined(root: str, morpheme: str) -> str:
    form = morpheme.casefold()
    if form in _NEGATIONS:
        return _negated(root)
    if form in _CONTRACTIONS:
        return f"{root}{_CONTRACTIONS[form]}"
    if form in ("z", "'z", "s'", "z'"):
        return f"{root}'" if root.endswith("s") else f"{root}s'" if form == "s'" else f"{root}'s"
    if form in ("s", "3s", "es"):
        return _with_s(root)
    if form in _INFLECTIONS:
        return _with_inflection(root, form)
    return _derived(root, form) if form in _DERIVATIONS else f"{root}{morpheme}"


def _negated(root: str) -> str:
    negation = _NEGATED.get(root.casefold())
    if negation:
        return root[0] + negation[1:]
    return f"{root}'t" if root.casefold().endswith("n") else f"{root}n't"


def _with_s(root: str) -> str:
    if root.endswith("y") and root[-2:-1] not in _VOWELS:
        return f"{root[:-1]}ies"
    if root.casefold() == "have":
        return f"{root[:-2]}s"
    return f"{root}es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", root) else f"{root}s"


def _with_inflection(root: str, suffix: str) -> str:
    if root.endswith("ie") and suffix == "ing":
        return f"{root[:-2]}ying"
    if root.endswith("e") and not (suffix == "ing" and re.search(r"(?:ee|oe|ye)$", root)):
        return f"{root[:-1]}{suffix}"
    if root.endswith("y") and root[-2:-1] not in _VOWELS and suffix != "ing":
        return f"{root[:-1]}i{suffix}"
    if len(root) <= 4 and _DOUBLED.search(root):
        return f"{root}{root[-1]}{suffix}"
    return f"{root}{suffix}"


def _derived(root: str, suffix: str) -> str:
    """Return ``root`` with *-ly*, *-ness* and the like: *gently*, *truly*, *fully*, *happiness*."""
    if suffix == "ly":
        if root.endswith("le") and root[-3:-2] not in _VOWELS:
            return f"{root[:-1]}y"
        if root.endswith(("ll", "ue")):
            return f"{root[:-1]}ly"
    if root.endswith("y") and root[-2:-1] not in _VOWELS and len(root) > 3:
        return f"{root[:-1]}i{suffix}"
    return f"{root}{suffix}"


_ENDS = {".": ".", "?": "?", "!": "!", ">": "+...", "^": "+/.", "~": "+..."}
_TOKEN = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]|[()<>]|:\d{1,3}(?::\d\d)?|:|[^\s(){}\[\]<>]+")
_INTENDED = re.compile(r"\[E[WO]:([^\[\]]+)\]")
_UNINTELLIGIBLE = re.compile(r"x{1,3}", re.IGNORECASE)
_PARENTHETICAL = re.compile(r"\(\(([^()]*)\)\)")
"""Words beside the story, such as a question about a word; not a maze."""
_SLASHED_NUMBER = re.compile(r"(?<=\d)/(?=\d)")
_BOUND = re.compile(r"(?<=[^\W\d_])[/+](?=[^\W\d_])")
"""What stands before bound morphemes, also Spanish clitics; outside of English nothing else changes."""
_NO_SPELLING = re.compile(r"[\"#$%*+=@\\^`|]+")
"""What CHAT would take for a mark; the letters around it are words."""
OVERLAP = "[<>]"
"""What stands behind overlapped words until it is known which side of CHAT's pair they are."""
_OMITTED = re.compile(r"\*([A-Za-z'][\w'/]*)")


def salt_to_chat(text: str, language: str = "eng") -> tuple[str, list[str]]:
    """Return the main tier of a SALT utterance, and what only a comment can hold; numbers are in words of ``language``.

    >>> salt_to_chat("(Um and) And then he go/3s :03 home (w*) with XX {points}.")
    ('&-um and [/] And then he goes (3.) home &+w with xxx .', ['points'])
    >>> salt_to_chat("He goed[EO:went] there>")
    ('He goed [: went] [*] there +...', [])
    """
    comments: list[str] = []
    body, end = _ending(text.strip().replace("…", "...").replace("’", "'"))
    comments += [f"parenthetical: {match[1].strip()}" for match in _PARENTHETICAL.finditer(body)]
    tokens = [match.group() for match in _TOKEN.finditer(_PARENTHETICAL.sub(r" \1 ", body))]
    pieces: list[str] = []
    maze: list[str] | None = None
    depth = 0  # a maze within a maze is a part of it
    for at, token in enumerate(tokens):
        if token == "(":
            maze, depth = [] if maze is None else maze, depth + 1
        elif token == ")":
            depth = max(0, depth - 1)
            if maze is not None and not depth:
                pieces = _with_maze(pieces, maze, tokens[at + 1 :], language)
                maze = None
        elif token[0] == "{":
            comments.append(token[1:-1].strip())
        elif token[0] == "[":
            _code(token, pieces if maze is None else maze, comments)
        elif token in "<>":
            pieces.append("\x02" if token == "<" else "\x03")
        else:
            (pieces if maze is None else maze).extend(_words(token, comments, language))
    if maze:
        pieces = _with_maze(pieces, maze, [], language)
    tier = _overlaps(" ".join(piece for piece in pieces if piece))
    if not tier and comments:
        event = re.sub(r"\W+", "_", comments[0]).strip("_").lower() or "nonverbal"
        return f"&={event} {end}", comments[1:]
    return f"{tier} {end}".strip(), [comment for comment in comments if comment]


def _with_maze(pieces: list[str], maze: list[str], tokens: list[str], language: str) -> list[str]:
    """Return ``pieces`` with a maze behind them; one that repeats them, ``wanna (wanna) go``, is the later copy."""
    size, following, near = len(maze), _message(tokens, language), _message(tokens, language, mazes=True)
    again, ahead = ([word.casefold() for word in words[:size]] for words in (maze, following))
    if size and [piece.casefold() for piece in pieces[-size:]] == again and ahead != again:
        copy = " ".join(pieces[-size:])
        return [*pieces[:-size], f"{copy} [/]" if size == 1 else f"<{copy}> [/]", *maze]
    plain = [word.casefold() for word in maze if word[0] not in "&0("]
    repeated = following and plain == [word.casefold() for word in near[: len(plain)]]  # by the next maze
    return [*pieces, mark_maze(maze, near if repeated else following, language)]


def _ending(text: str) -> tuple[str, str]:
    """Return the text without its final mark, and CHAT's terminator; codes and comments may follow the mark."""
    tail = re.search(r"(?:\s*(?:\[[^\[\]]*\]|\{[^{}]*\}))*\s*$", text)
    behind = text[tail.start() :] if tail else ""
    head = text[: len(text) - len(behind)]
    sign = head[-1:]
    if sign == ">" and head.count("<") >= head.count(">"):  # it closes an overlap
        return text, "."
    if sign not in _ENDS:
        return text, "."
    return f"{head[:-1].rstrip('.?!~^')}{behind}", _ENDS[sign]


def _message(tokens: list[str], language: str, *, mazes: bool = False) -> list[str]:
    """Return the words of the message among ``tokens``: everything outside of ``mazes``, comments and codes."""
    words: list[str] = []
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if (mazes or depth == 0) and token[0] not in "(){}[]<>:":
            words.extend(word for word in _words(token, [], language) if not word.startswith(("&", "0", "(")))
    return words


def _words(token: str, comments: list[str], language: str) -> list[str]:
    """Return CHAT for one word of SALT; several where a bound morpheme was omitted."""
    if token[0] == ":":
        return [_pause(token)]
    word = token.strip(',;"“”')
    if not word:
        return []
    if _UNINTELLIGIBLE.fullmatch(word.partition("/")[0]):
        return ["xxx"]
    if match := _OMITTED.fullmatch(word):
        return [f"0{join_morphemes(match.group(1))}"]
    if "/*" in word:  # dog/*s: the plural is missing
        comments.append(f"omitted: {word}")
        word = word.partition("/*")[0]
    if word[0] == "%" and len(word) > 1:
        return [f"{word[1:]}@o"]
    word, bar, root = word.partition("|")
    if bar:
        comments.append(f"{word}: root {root}")
    if word.endswith("*") and len(word) > 1:
        return [f"&+{word.rstrip('*')}"]
    form = (join_morphemes(word) if language == "eng" else _BOUND.sub("", word)).strip(".?!")
    if _SLASHED_NUMBER.search(word):
        form = word
    if not re.search(r"\w", form):
        return []
    if form.casefold() in FILLERS["eng"] - NO_FILLERS.get(language, frozenset()):
        return [f"&-{form.casefold()}"]
    if any(sign.isdigit() for sign in form):
        return repair_text(form, marks=False, language=language)[0].split()
    return [form] if form.startswith("&") else _NO_SPELLING.sub(" ", form.replace(":", "")).split()


def _pause(token: str) -> str:
    """Return CHAT's pause for ``:03`` or ``:``, which says nothing of the length."""
    parts = [int(part) for part in token.split(":") if part]
    seconds = parts[0] if len(parts) == 1 else 60 * parts[0] + parts[1] if parts else 0
    return f"({seconds}.)" if seconds else "(.)"


def _code(token: str, words: list[str], comments: list[str]) -> None:
    """Add a code: the intended word of ``[EW:...]`` and ``[EO:...]`` is a replacement, others are comments."""
    match = _INTENDED.fullmatch(token)
    if match and words and re.match(r"\w", words[-1]):
        words[-1] = f"{words[-1]} [: {join_morphemes(match.group(1).strip())}] [*]"
    else:
        comments.append(token[1:-1].strip() if not words else f"{words[-1].lstrip('&-+')}: {token}")


def _overlaps(text: str) -> str:
    """Return ``text`` with overlapped words in a group; an opening or closing sign alone is dropped.

    SALT does not say with whom they overlap: :func:`with_overlap_codes` sets the code.
    """
    grouped = re.sub(r"\x02 ([^\x02\x03]+) \x03", rf"<\1> {OVERLAP}", text)
    return re.sub(r" ?[\x02\x03]", "", grouped).strip()


def with_overlap_codes(tiers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the main tier of each (speaker, tier): ``[>]`` where another overlaps, and ``[<]`` at the other's words.

    >>> list(with_overlap_codes([("CHI", "<a> [<>] dog ."), ("MOT", "<no> [<>] ."), ("CHI", "<it> [<>] ran .")]))
    ['<a> [>] dog .', '<no> [<] .', '<it> [>] ran .']
    """
    before = ""  # whose overlapped words wait for another's
    for speaker, tier in tiers:
        parts = tier.split(OVERLAP)
        main = parts[0]
        for part in parts[1:]:
            answers = before not in ("", speaker)
            before = "" if answers else speaker
            main += f"{'[<]' if answers else '[>]'}{part}"
        yield main
