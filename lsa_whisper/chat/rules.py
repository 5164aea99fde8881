"""The rules of CHAT that are checked: meaning, remedy, and the number of the same rule in CLAN's CHECK."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """A rule of CHAT.

    Attributes:
        check_number: The error number of CLAN's CHECK for the same rule; ``None`` if CHECK has none.
        meaning: What a violation is.
        remedy: What to do about it.
        fixable: Whether ``inspect --fix`` can repair violations of it; not all of them have one correct repair.
        remark: Whether CHECK accepts violations of it: they are worth knowing, but no reason to refuse a file.
    """

    check_number: int | None
    meaning: str
    remedy: str
    fixable: bool = False
    remark: bool = False


FILE_RULES = {
    "unreadable": Rule(None, "the file or folder cannot be opened", "check the path and its permissions"),
    "encoding": Rule(86, "the file is not UTF-8", "save it as UTF-8", True),
    "first-line": Rule(69, "the file does not start with @UTF8", "make @UTF8 the first line", True),
    "no-begin": Rule(6, "@Begin is missing", "add @Begin after @UTF8", True),
    "no-end": Rule(7, "@End is missing", "make @End the last line", True),
    "no-languages": Rule(77, "@Languages is missing", "add @Languages after @Begin, such as '@Languages:\teng'"),
    "no-participants": Rule(61, "@Participants is missing", "add @Participants after @Languages"),
    "after-end": Rule(44, "a line follows @End", "move @End to the last line"),
    "blank-line": Rule(91, "an empty line", "remove it", True),
    "stray-line": Rule(1, "a line starts with none of @, *, % and a tab", "start a continuation line with a tab"),
    "no-speaker": Rule(2, "a main tier has no speaker code or no colon", "write *CODE: and a tab before the words"),
    "orphan-tier": Rule(39, "a dependent tier has no main tier above it", "move it below its main tier"),
    "missing-text": Rule(31, "no text follows the colon", "add the text, or remove the line"),
    "missing-colon": Rule(2, "the name of a header or tier has no colon", "write a colon, a tab and the text", True),
    "no-tab": Rule(4, "no tab follows the colon", "write one tab after the colon", True),
    "extra-tab": Rule(132, "a tab stands within a line", "use tabs only after the colon and to start lines", True),
}
HEADER_RULES = {
    "unknown-header": Rule(17, "CHAT has no such header", "use a header of CHAT, or @Comment"),
    "second-header": Rule(53, "a header that may stand only once is repeated", "remove the second one"),
    "header-order": Rule(
        126,
        "the first headers are not in CHAT's order",
        "order them: @UTF8, @Begin, @Languages, @Participants, @Options, @ID, @Birth of, then all others",
    ),
    "header-text": Rule(30, "text stands after a header that takes none", "remove the text"),
    "header-value": Rule(11, "the header does not allow this value", "use one of the values that CHAT lists"),
    "option": Rule(11, "CHAT has no such option", "use an option of CHAT, such as CA"),
    "date": Rule(34, "the date does not read like 28-JUN-2001", "write day, month in capitals, year: 28-JUN-2001"),
    "time": Rule(35, "the time does not read like 8:30:31", "write hours, minutes and seconds: 8:30:31"),
    "language": Rule(120, "the language code does not have three letters", "use a code of ISO 639-3, such as eng"),
    "unknown-language": Rule(121, "ISO 639-3 has no such language code", "use a code of ISO 639-3, such as eng"),
    "gem-begin": Rule(45, "@Bg has no @Eg with the same label", "add @Eg where the passage ends"),
    "gem-end": Rule(46, "@Eg has no @Bg with the same label above it", "add @Bg where the passage begins"),
    "media-kind": Rule(114, "@Media does not say audio or video", "write '@Media:\tname, audio' or '..., video'"),
    "media-unlinked": Rule(124, "@Media says that there are no bullets, but there are", "remove unlinked", True),
    "media-linked": Rule(154, "@Media has no bullets to link to", "add unlinked to @Media", True, remark=True),
    "media-name": Rule(157, "@Media names another file", "write the name of the CHAT file without .cha", remark=True),
    "media-extension": Rule(99, "the name in @Media has an extension", "remove the extension", True),
    "media-quotes": Rule(
        None, "@Media names a web address without quotation marks", "write it between straight quotes"
    ),
    "page": Rule(None, "@Page does not give a number", "write the number of the page"),
    "media-space": Rule(148, "a space stands before a comma of @Media", "remove the space", True),
}
PARTICIPANT_RULES = {
    "participant": Rule(
        12,
        "an entry of @Participants is not 'CODE Name Role' or 'CODE Role'",
        "write the code, the name in one word or none, and the role",
    ),
    "second-participant": Rule(13, "@Participants has the same code twice", "give each participant a code"),
    "participants-comma": Rule(100, "@Participants has an empty entry", "remove the comma", True),
    "speaker-code": Rule(
        16,
        "the speaker code is too long or has other characters than letters and digits",
        "use three capital letters, such as CHI",
    ),
    "role": Rule(15, "CHAT has no such role", "use a role of CHAT, such as Target_Child, Mother or Participant"),
    "role-mismatch": Rule(142, "@ID and @Participants give different roles", "write the same role in both"),
    "missing-id": Rule(60, "a participant has no @ID", "add an @ID line"),
    "second-id": Rule(13, "a participant has two @ID lines", "remove one of them"),
    "id-speaker": Rule(18, "@ID describes a code that is not in @Participants", "add the code to @Participants"),
    "id-fields": Rule(143, "@ID does not have ten fields", "write ten fields, each followed by |"),
    "id-language": Rule(122, "@ID has no language, or one that is not in @Languages", "use a language of @Languages"),
    "corpus": Rule(63, "@ID names no corpus", "write the name of the corpus in the second field"),
    "age-zero": Rule(153, "a month or day of the age has one digit", "write two digits: 4;09.03", True),
    "age": Rule(34, "the age does not read like 4;11.03", "write years;months.days: 4;11.03, 4;11. or 4;", True),
    "sex": Rule(64, "the sex is neither female nor male", "write female or male, or leave the field empty", True),
    "ses": Rule(
        144,
        "the field for ethnicity and SES has another value",
        "use WC, MC, UC or LI, after an ethnicity and a comma if it is known",
    ),
    "speaker": Rule(18, "the speaker is not in @Participants", "add the code to @Participants, or correct it"),
}
TIME_RULES = {
    "bare-bullet": Rule(
        89, "a bullet lacks its control characters", "write character 15 (hexadecimal) on both sides", True
    ),
    "bullet-format": Rule(89, "a bullet does not read start_end in milliseconds", "write it like 1000_2500"),
    "empty-bullet": Rule(82, "a bullet does not end after its start", "correct the times"),
    "bullet-order": Rule(83, "a bullet starts before the one above it", "correct the times, or reorder the utterances"),
    "bullet-overlap": Rule(
        133, "an utterance starts before its speaker ended the last one", "correct the times", remark=True
    ),
    "bullet-place": Rule(81, "a bullet stands before the terminator", "move it to the end of the tier"),
    "word-order": Rule(
        None, "the words of %wor are out of order in time", "correct the times of the words", remark=True
    ),
}
TIER_RULES = {
    "no-terminator": Rule(21, "the utterance has no terminator", "end it with . ? ! or another terminator"),
    "inner-terminator": Rule(50, "a terminator stands within the utterance", "end the utterance there, or remove it"),
    "after-terminator": Rule(36, "words follow the terminator", "start a new utterance, or move the terminator"),
    "obsolete-terminator": Rule(11, "the terminator is obsolete", "use a terminator of CHAT, such as +."),
    "empty-utterance": Rule(70, "the utterance has no words, events or pauses", "write 0 for an action without words"),
    "postcode-place": Rule(75, "a postcode stands before the terminator", "move it behind the terminator"),
    "opaque": Rule(48, "a character has no meaning here", "remove it"),
    "unmatched-bracket": Rule(22, "[ or ] has no counterpart", "add the missing bracket, or remove this one"),
    "unclosed-group": Rule(24, "< has no >", "add > where the group ends"),
    "unmatched-close": Rule(25, "> has no <", "add < where the group begins"),
    "unmatched-parenthesis": Rule(28, "( or ) has no counterpart", "add the missing parenthesis"),
    "open-parenthesis": Rule(55, "( in a word has no )", "enclose the sounds that were left out: goin(g)"),
    "close-parenthesis": Rule(56, ") in a word has no (", "enclose the sounds that were left out: goin(g)"),
    "unmatched-quotation": Rule(
        136,
        "a quotation mark has no counterpart, or quotations are nested",
        "pair “ with ” on one tier, without nesting",
    ),
    "unmatched-unit": Rule(128, "‹ ›, 〔 〕 or a scope of &{ has no counterpart", "add the missing mark"),
    "unpaired-mark": Rule(117, "a mark that encloses words stands only once", "add the second mark"),
    "group-without-code": Rule(51, "no code follows <...>", "add the code, such as [/], or remove < and >"),
    "empty-group": Rule(52, "<...> encloses nothing", "remove it"),
    "group-spacing": Rule(160, "a space follows < or stands before >", "remove the space", True),
    "code-spacing": Rule(161, "no space separates a code from the text beside it", "add the space", True),
    "pause-spacing": Rule(57, "no space separates a pause from a word", "add the space", True),
    "pause-place": Rule(None, "a pause stands before the > of a retrace", "write the pause after the code"),
    "pause-format": Rule(111, "the length of a pause has no dot", "write seconds with a dot: (3.) or (3.5)", True),
    "obsolete-pause": Rule(48, "# is no longer a pause", "write (.), (..) or (...)", True),
    "unknown-code": Rule(32, "CHAT has no such code", "use a code of CHAT, with a space after its mark: [= text]"),
    "code-without-words": Rule(52, "no words stand before the code", "move it behind the words that it is about"),
    "retrace-without-words": Rule(52, "no words stand before the retrace", "move it behind the words it is about"),
    "retrace-without-repair": Rule(119, "no words follow the retrace", "write the words that follow, or end with +..."),
    "obsolete-repetition": Rule(32, "[x 3] is obsolete", "write each copy of the words, with [/] between them"),
    "precode-place": Rule(78, "[- language] is not at the start of the tier", "move it to the start", remark=True),
    "precode-language": Rule(152, "the language of [- language] is not in @Languages", "add it to @Languages"),
    "linker-place": Rule(78, "a linker is not at the start of the tier", "move it to the start"),
    "double-comma": Rule(156, "two commas in a row", "write „ before a tag question, else one comma", True),
    "comma-place": Rule(73, "a comma stands before all words", "remove it"),
    "replacement-place": Rule(141, "a replacement does not follow exactly one word", "write [: word] after one word"),
    "replacement-text": Rule(158, "a replacement is not a word of the language", "write the intended word"),
    "replaced-word": Rule(141, "a filler, fragment or nonword is replaced", "remove the & mark, or the replacement"),
}
WORD_RULES = {
    "digits": Rule(47, "digits in a word", "write numbers as words"),
    "untranscribed": Rule(11, "an obsolete spelling of untranscribed speech", "write xxx, yyy or www"),
    "apostrophe": Rule(138, "a curly apostrophe or single quotation mark", "write '", True),
    "empty-word": Rule(67, "no word follows the mark", "write the word directly after it"),
    "prefix": Rule(37, "& without -, +, ~, = or *", "write &- for a filler, &+ for a fragment, &~ for a nonword"),
    "event-text": Rule(146, "&= does not say what happened", "write it directly after &=, such as &=laughs"),
    "other-speaker": Rule(18, "&* does not read &*CODE:word", "write the speaker code, a colon and the word"),
    "form-marker": Rule(147, "CHAT has no such form marker", "use a form marker of CHAT, such as @c or @o"),
    "letter": Rule(76, "@l marks more than one letter", "write one letter before @l, or use @k"),
    "compound": Rule(88, "a compound with + has a form marker that compounds cannot have", "join the parts with _"),
    "compound-part": Rule(65, "a part of a compound is missing", "write + only between two parts"),
    "no-second-language": Rule(
        152,
        "@s does not say its language, and @Languages has only one",
        "add the second language to @Languages, or write @s:spa",
    ),
    "marker-language": Rule(120, "the language after @s: is not a code of three letters", "write it like @s:spa"),
    "parentheses": Rule(155, "a whole word in parentheses", "write 0word for an omitted word"),
    "character": Rule(48, "a character that words cannot contain", "remove it"),
    "segment": Rule(
        None, "↫ encloses more than letters and hyphens", "write only the repeated sounds: ↫b-b↫", remark=True
    ),
    "no-sound": Rule(None, "a prolonged or broken sound is missing", "write the sound first: h:oo, not :hoo"),
    "apostrophe-place": Rule(65, "an apostrophe does not stand beside letters", "write one apostrophe: who', i's"),
    "colon-place": Rule(48, "a colon stands before another mark", "write the colon after the prolonged sound"),
    "caret-place": Rule(65, "^ does not stand inside a word", "write ^ between the parts of a broken word: pi^zza"),
    "underscore-place": Rule(65, "_ does not join two words", "write _ between words: you_know"),
    "inner-ampersand": Rule(66, "& stands inside a word", "write two words: dog &-um"),
    "slash": Rule(None, "/ stands in a word", "write the words apart: and or", remark=True),
    "long-prolongation": Rule(48, "more than two colons in a filler or fragment", "write at most two: &-u::m"),
    "parenthesis-place": Rule(65, "a parenthesis encloses no sound", "enclose the sounds that were left out: goin(g)"),
    "block-place": Rule(101, "no sound follows ≠", "write ≠ before the blocked sound: ≠ball"),
    "empty-repetition": Rule(
        None, "↫ encloses no sound, or a hyphen beside it", "write the repeated sounds: ↫b-b↫ball"
    ),
    "unpaired-repetition": Rule(117, "↫ has no partner", "write ↫ before and after the repeated sounds"),
    "only-segments": Rule(151, "the word has only repeated sounds", "write the word behind them: ↫b-b↫ball"),
}
DEPENDENT_RULES = {
    "unknown-tier": Rule(17, "CHAT has no such dependent tier", "use a tier of CHAT, or a name that starts with %x"),
    "tier-name": Rule(58, "the name of the dependent tier has more than seven letters", "use a shorter name"),
    "twin-tier": Rule(40, "an utterance has two dependent tiers of one name", "join them"),
    "mor-size": Rule(140, "%mor does not have one item for each word", "run MOR again, or correct the tier"),
    "mor-terminator": Rule(94, "%mor and the main tier have different terminators", "write the same terminator"),
    "mor-item": Rule(80, "an item of %mor is not part|stem", "write the part of speech, | and the stem"),
    "gra-item": Rule(87, "an item of %gra is not index|head|relation", "write it like 1|2|SUBJ"),
    "gra-size": Rule(None, "%gra does not have one relation for each unit of %mor", "run MEGRASP again", remark=True),
    "gra-order": Rule(
        None, "%gra is not numbered from 1, or names a head that does not exist", "number it again", remark=True
    ),
    "pho-size": Rule(
        None, "%pho, %mod or %sin does not have one item for each word", "add the missing items", remark=True
    ),
}  # fmt: skip
RULES = FILE_RULES | HEADER_RULES | PARTICIPANT_RULES | TIME_RULES | TIER_RULES | WORD_RULES | DEPENDENT_RULES
"""All rules by code."""
