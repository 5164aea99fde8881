"""Assignment of sessions to train, dev and test, without speakers in more than one split."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from lsa_whisper.corpus import Session

DEV_SHARE = TEST_SHARE = 0.1
MIN_GROUPS = 3


def assign_splits(sessions: Sequence[Session]) -> tuple[list[str], list[str]]:
    """Return the split of each session, and notes for the user.

    Sessions that share a person, directly or indirectly, form a group and stay together. A corpus card assigns the
    speakers it lists; the rest of such a corpus is for training. Every other group is assigned by the hash of its first
    speaker id (80 : 10 : 10), so that new files do not move others; with three or more groups, dev and test get at
    least one each. The assignment does not depend on the seed.
    """
    notes: list[str] = []
    groups = _groups(sessions)
    splits = [session.split or "" for session in sessions]
    carded = {session.corpus for session in sessions if session.split}
    free: dict[str, list[int]] = {}
    for members in groups:
        fixed = sorted({splits[at] for at in members} - {""})
        if len(fixed) > 1:
            notes.append(_shared(sessions, members, fixed))
        if fixed or any(sessions[at].corpus in carded for at in members):
            for at in members:
                splits[at] = splits[at] or (fixed[0] if len(fixed) == 1 else "train")
        else:
            free[min(person for at in members for person in persons(sessions[at]))] = members
    if free and len(free) < MIN_GROUPS:
        notes.append(f"groups of sessions without shared speakers: only {len(free)}; all are used for training")
    by_hash = split_by_hash(list(free)) if len(free) >= MIN_GROUPS else dict.fromkeys(free, "train")
    for name, members in free.items():
        for at in members:
            splits[at] = by_hash[name]
    return splits, notes


def unmatched_card_ids(card_ids: Sequence[tuple[str, str]], sessions: Sequence[Session]) -> list[str]:
    """Return a note for each corpus whose card lists speakers that no session has: possibly misspelled ids.

    ``card_ids`` are pairs of a corpus name and an id that its card lists.
    """
    present = {(session.corpus, card_id) for session in sessions for card_id in session.card_ids}
    absent: dict[str, list[str]] = {}
    for corpus, card_id in card_ids:
        if (corpus, card_id) not in present:
            absent.setdefault(corpus, []).append(card_id)
    return [
        f"the card of {corpus} lists speakers that no usable session has: {', '.join(ids[:10])}"
        f"{f' and {len(ids) - 10} more' if len(ids) > 10 else ''}; check their spelling"
        for corpus, ids in absent.items()
    ]


def split_by_hash(names: Sequence[str]) -> dict[str, str]:
    """Return the split of each of three or more groups, by the hash of its name.

    >>> sorted(split_by_hash(["a", "b", "c"]).values())
    ['dev', 'test', 'train']
    """
    place = {
        name: int(hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12], 16) / 16**12 for name in names
    }
    order = sorted(names, key=lambda name: (place[name], name))
    tests = _within(sum(place[name] < TEST_SHARE for name in order), 1, len(order) - 2)
    devs = _within(sum(place[name] < TEST_SHARE + DEV_SHARE for name in order) - tests, 1, len(order) - tests - 1)
    kinds = ["test"] * tests + ["dev"] * devs + ["train"] * (len(order) - tests - devs)
    return dict(zip(order, kinds, strict=True))


def _within(count: int, least: int, most: int) -> int:
    return max(least, min(count, most))


def persons(session: Session) -> set[str]:
    """Return the persons in ``session``: speaker ids without codes, because one person may have several roles."""
    return {speaker.rpartition("-")[0] for speaker in session.speakers.values()} or {f"{session.corpus}/{session.name}"}


def _groups(sessions: Sequence[Session]) -> list[list[int]]:
    """Return the indices of ``sessions`` in groups that share no person."""
    from scipy.cluster.hierarchy import DisjointSet  # half a second to load

    groups = DisjointSet(range(len(sessions)))
    first_of: dict[str, int] = {}
    for at, session in enumerate(sessions):
        for person in persons(session):
            groups.merge(at, first_of.setdefault(person, at))
    return [sorted(members) for members in groups.subsets()]


def _shared(sessions: Sequence[Session], members: Sequence[int], fixed: Sequence[str]) -> str:
    splits_of: dict[str, set[str]] = {}
    for at in members:
        for person in persons(sessions[at]):
            splits_of.setdefault(person, set()).add(sessions[at].split or "train")
    shared = sorted(person for person, splits in splits_of.items() if len(splits) > 1)
    return f"the card's splits share {', '.join(shared[:5])} between {' and '.join(fixed)}: list them, or drop them"
