#!/usr/bin/env python3
"""Counts habits of prose that a reader stumbles over, in comments and pages, and fails where there are more than LIMITS says.

usage: tests/prose.py           prints the counts; ends with 1 above a limit
       tests/prose.py PATH...   prints each place in these files or folders, as file:line: habit: text"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CODE = ["src", "adapters/*/src", "crates/*/src", "cli/src", "xtask/src", "cl", "cuda"]
PAGES = ["docs/*.md", "README.md", "CONTRIBUTING.md", "SECURITY.md"]
# Today's counts. They only fall.
LIMITS = {"so many": 0, "of so": 0, "what is": 2, "the same": 0, "as [`": 0, "no verb": 1}

PHRASES = {
    "so many": r"\bso (?:many|much|few|large|long)\b(?! (?:that|as)\b)",
    "of so": r"\bof so\b",
    # As a definition: at the start of a sentence, or after a colon or comma.
    "what is": r"(?:^|[.:;,(] ?)[Ww]hat (?:is|was|has|comes|takes|goes|lies|there|a|an|the|one|each|all|[a-z]+s)\b",
    "the same": r"(?:^|[.:;] )(?:The same|the same),",
    "as [`": r"\bAs \[`",
}

AUXILIARY = """is are was were be been being am has have had do does did can could may might must shall should will would cannot
isn't aren't doesn't don't can't won't needn't need needs""".split()
# Verbs of this repository's subjects, by their base forms.
VERBS = """abort absorb accept accumulate acquire act add adjust agree align allocate allow alter answer append apply arrive ask assemble
assert assign assume avoid await batch become begin belong bind blend block borrow bound branch break bring broadcast bucket build
buffer cache calculate call cancel cap carry cast catch cause change check choose clamp claim clean clear clone close coalesce collect
color combine come commit compare compile complete compose compress compute concatenate configure connect consist consume contain
continue contribute convert convince copy correspond cost count cover crash create cross cut deadlock decide declare decode decompose
decrease decrypt define delay delegate delete deliver depend derive describe deserialise detect determine deviate differ disable
discard dispatch divide document double download draw drop duplicate elapse eliminate emit enable encode encrypt end enforce enqueue
ensure enter enumerate equal escape estimate evaluate evict exceed exchange exclude execute exist exit expand expect expire explain
export expose express extend extract factor fail fall fetch fill filter find finish fire fit fix flag flip flush fold follow forbid
force fork form format forward free fuse gather generate get give go grow guard guarantee guess halve handle happen hash help hide
hint hit hold identify idle ignore implement imply import improve include increase increment index indicate infer inherit initialise
initialize inline insert inspect install interleave interpolate interpret introduce invert invoke issue iterate join jump keep know label lack
last launch lay lead leak learn leave let lie lift limit link list listen live load lock log loop lose lower make manage map mark mask match
materialise matter mean measure meet merge mirror miss mix model modify move multiply name negate normalise note notice notify observe obtain occupy
occur offer open operate order outlive overflow overlap override overwrite own pack pad panic parse partition pass pay permute pick
pin place plan point poll pool populate port precede precompute predict prefer prepare preserve prevent print produce promise
propagate protect prove provide pull push put query queue quote raise reach read rebuild receive recompute reconstruct record recover reduce refer
refill refuse register reject relate release rely remain remember remove rename render reorder repeat replace replay reply report represent
request require reserve reset resize resolve respect restore restrict result retain retry return reuse reverse reverts rewrite roll
rotate round run sample satisfy save say scale scan scatter schedule search see seed select send separate serialise serve set settle share
shift show shrink shuffle sign simulate sit skip sleep slice slide solve sort span spawn specialise specify spend spill spin split spread square
stage stall stand start state stay step stop store stream strip subtract suffice sum supply support suppose suspend swap switch
synchronise synchronize tabulate take tell terminate test throttle throw tie time touch trace track trade train transfer transform
translate transpose traverse treat trigger trim truncate trust try turn unpack unroll unwind update upload use validate vanish vary
verify visit wait wake walk want warn waste widen win wipe work worsen wrap write yield zero""".split()
IRREGULAR = """became began bound broke brought built came chose chosen did done drawn drew fell felt fit found gave given gone got grew
grown held kept knew known laid lain led left lent lost made meant met paid ran read said sat saw seen sent set shown slept sold
spent split stood took taken taught thought threw thrown told understood went woke won written wrote""".split()


def forms(verb):
    """Third person, past and participle of a regular verb."""
    stem = verb[:-1] if verb.endswith("e") else verb
    third = verb + ("es" if re.search(r"(s|sh|ch|x|z|o)$", verb) else "s")
    if re.search(r"[^aeiou]y$", verb):
        third, stem_ed = verb[:-1] + "ies", verb[:-1] + "i"
    else:
        stem_ed = stem
    double = verb + verb[-1]
    return {verb, third, stem_ed + "ed", stem + "ing", double + "ed", double + "ing"}


WORDS = set(AUXILIARY) | set(IRREGULAR) | set().union(*map(forms, VERBS))


# A field or a variant of a type, whose comment is a label.
LABELLED = re.compile(r"\s*(?:(?:pub(?:\([^)]*\))? )?[a-z_0-9]+:(?!:)|[A-Z]\w*\s*(?:[,({=]|$)|#\[)")


def comments(path):
    """Each comment of a file of code: its first line, its text without code, and whether it is a field's or a variant's."""
    text, start, is_code = [], 0, False
    for number, line in enumerate([*path.read_text().splitlines(), ""], 1):
        match = re.match(r"\s*//[/!]?(.*)", line)
        if not match:
            if text:
                yield start, " ".join(text), bool(LABELLED.match(line))
            text = []
            continue
        body = match[1].strip()
        start = start if text else number
        if body.startswith("```"):
            is_code = not is_code
        elif not is_code and body and not body.startswith("#"):
            text.append(body)
        elif not body and text:
            yield start, " ".join(text), False
            text = []


def paragraphs(path):
    """Each line of a page that is no code, as `comments` has them."""
    is_code = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line, True


def has_verb(text):
    plain = re.sub(r"`[^`]*`", " ", text.removeprefix("SAFETY:"))
    words = re.findall(r"[a-z']+", plain.lower())
    # A label of one or two words is no sentence.
    return len(words) < 3 or any(word in WORDS for word in words)


def findings(path):
    """Line, habit and text of each place."""
    lines = paragraphs(path) if path.suffix == ".md" else comments(path)
    for number, text, is_label in lines:
        plain = re.sub(r"`[^`]*`", "`x`", text)
        for habit, pattern in PHRASES.items():
            source = text if habit == "as [`" else plain
            yield from ((number, habit, text) for _ in re.finditer(pattern, source))
        is_table = text.startswith("|")
        if not is_label and not is_table and not has_verb(text):
            yield number, "no verb", text


def files(paths):
    for path in paths:
        found = [path] if path.is_file() else path.rglob("*")
        yield from (file for file in sorted(found) if file.suffix in (".rs", ".cl", ".cu", ".cuh", ".md"))


def main():
    if len(sys.argv) > 1:
        for file in files(Path(name).resolve() for name in sys.argv[1:]):
            for number, habit, text in findings(file):
                print(f"{file.relative_to(ROOT)}:{number}: {habit}: {text[:160]}")
        return
    everything = [path for pattern in [*CODE, *PAGES] for path in ROOT.glob(pattern)]
    counts = dict.fromkeys(LIMITS, 0)
    for file in files(everything):
        for _, habit, _ in findings(file):
            counts[habit] += 1
    for habit, count in counts.items():
        print(f"{habit:8} {count:5} of {LIMITS[habit]} at most")
    above = [habit for habit, count in counts.items() if count > LIMITS[habit]]
    if above:
        sys.exit(f"prose.py: too many: {', '.join(above)}; tests/prose.py PATH shows each")


if __name__ == "__main__":
    main()
