"""Expands the CPU device's table of instructions (`ptx_tool --table`) into single instructions."""
import random
import re


def slots_of(form):
    """'add{.rn|.rz}{.ftz}.f32' -> ('add', [([rn, rz], optional), ...])"""
    opcode = re.match(r"[a-z0-9]+", form).group(0)
    slots = []
    for optional, plain in re.findall(r"\{([^}]*)\}|((?:\.[\w:]+)(?:\|\.[\w:]+)*)", form[len(opcode):]):
        text = optional or plain
        slots.append(([part.lstrip(".") for part in text.split("|")], bool(optional)))
    return opcode, slots


def expand(form, limit=40000):
    """Every instruction that a form stands for, as (opcode, modifiers); beyond `limit` a seeded sample."""
    opcode, slots = slots_of(form)
    count = 1
    for alternatives, optional in slots:
        count *= len(alternatives) + optional
    choices = [alternatives + [None] * optional for alternatives, optional in slots]
    if count > limit:
        rng = random.Random(form)
        picked = {tuple(rng.choice(c) for c in choices) for _ in range(limit)}
        return [(opcode, tuple(m for m in pick if m)) for pick in sorted(picked, key=str)]
    result = [()]
    for options in choices:
        result = [made + ((option,) if option else ()) for made in result for option in options]
    return [(opcode, modifiers) for modifiers in result]


def sample(instructions, limit):
    """At most `limit` of them, such that every modifier and every pair of modifiers that occurs is kept if possible."""
    if len(instructions) <= limit:
        return instructions
    rng = random.Random(str(instructions[0]))
    rest = list(instructions)
    rng.shuffle(rest)
    seen, kept, later = set(), [], []
    for instruction in rest:
        modifiers = instruction[1]
        pairs = {(a, b) for a in modifiers for b in modifiers} | {len(modifiers)}
        if pairs - seen:
            kept.append(instruction)
            seen |= pairs
        else:
            later.append(instruction)
    kept = (kept + later)[:limit] if len(kept) < limit else kept[:limit]
    return sorted(kept)
