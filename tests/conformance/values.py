"""Inputs of the conformance rows, as bit patterns: deterministic in the name of the set that they form."""
import random
import struct

FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}
BITS = {"8": 8, "16": 16, "32": 32, "64": 64}


def width_of(kind):
    """Bits of a kind of input: 'f32', 'u16', 'f16x2', 'b32:amount'."""
    kind = kind.split(":")[0]
    if kind.endswith("x2"):
        return 16 if kind[0] == "e" else 32
    if kind.endswith("x4"):
        return 32
    return int("".join(c for c in kind.replace("bf16", "16").replace("f16", "16") if c.isdigit()))


def special_floats(fmt):
    exponent_bits, fraction_bits = FORMATS[fmt]
    bias = (1 << (exponent_bits - 1)) - 1
    one, infinity = bias << fraction_bits, ((1 << exponent_bits) - 1) << fraction_bits
    quiet = 1 << (fraction_bits - 1)
    normal = 1 << fraction_bits
    positive = [0, 1, 2, normal - 1, normal, normal + 1, one - 1, one, one + 1, one - normal, one + normal,
                one + quiet, infinity - 1, infinity - normal, infinity, infinity | quiet, infinity | 1,
                infinity | quiet | 0x12, infinity | (normal - 1), infinity | (quiet - 1), quiet, quiet + 1]
    sign = 1 << (exponent_bits + fraction_bits)
    return [bits | s for bits in positive for s in (0, sign)]


def encode(fmt, value):
    """The nearest number of the format (through f32 for the short ones; only used to place inputs)."""
    value = float(value)
    if fmt == "f64":
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if fmt == "f16":
        try:
            return struct.unpack("<H", struct.pack("<e", value))[0]
        except OverflowError:
            return 0x7c00 if value > 0 else 0xfc00
    try:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        bits = 0x7f800000 if value > 0 else 0xff800000
    return bits >> 16 if fmt == "bf16" else bits


def edges_of_conversion(fmt):
    """Ties and the ends of the integer types, and their neighbours."""
    centres = [0.25, 0.5, 0.75, 1.5, 2.5, 3.5, 126.5, 127.5, 128, 255, 255.5, 256, 32767, 32767.5, 32768, 65535, 65535.5, 65504,
               65520, 65536, 2.0**24, 2.0**31 - 1, 2.0**31, 2.0**32 - 1, 2.0**32, 2.0**53, 2.0**63, 2.0**64, 448, 464, 480, 57344,
               61440, 1e-3, 2.0**-6, 2.0**-9, 2.0**-10, 2.0**-14, 2.0**-15, 2.0**-16, 2.0**-24, 2.0**-25, 2.0**-126,
               2.0**-127, 2.0**-133, 2.0**-134, 2.0**-149]
    result = []
    for centre in centres:
        for value in (centre, -centre):
            bits = encode(fmt, value)
            result += [bits, bits + 1] + ([bits - 1] if bits & ((1 << (width_of(fmt) - 1)) - 1) else [])
    return result


def random_float(fmt, rng):
    exponent_bits, fraction_bits = FORMATS[fmt]
    bias = (1 << (exponent_bits - 1)) - 1
    kind = rng.random()
    if kind < 0.25:
        return rng.getrandbits(1 + exponent_bits + fraction_bits)
    if kind < 0.35:
        exponent = 0
    elif kind < 0.8:
        exponent = bias + rng.randint(-5, 5)
    else:
        exponent = rng.randint(1, 2 * bias)
    fraction = rng.getrandbits(fraction_bits)
    if rng.random() < 0.3:  # few significant bits: exact sums and products, ties
        fraction &= ~((1 << rng.randint(1, fraction_bits)) - 1)
    return rng.getrandbits(1) << (exponent_bits + fraction_bits) | exponent << fraction_bits | fraction


def special_integers(bits):
    values = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256]
    top = 1 << bits
    values += [top - 1, top - 2, top // 2, top // 2 - 1, top // 2 + 1, top - 128, top - 129, top // 3, top - top // 3]
    for shift in (15, 16, 24, 31, 32, 53):
        values += [1 << shift, (1 << shift) - 1, (1 << shift) + 1]
    return [value % top for value in values]


def random_integer(bits, rng):
    if rng.random() < 0.3:
        return rng.choice(special_integers(bits))
    value = rng.getrandbits(rng.randint(1, bits))
    return (-value if rng.random() < 0.3 else value) % (1 << bits)


def one(kind, rng, special):
    base, _, role = kind.partition(":")
    if role == "amount":
        return rng.choice(list(range(0, 36)) + [40, 48, 63, 64, 65, 127, 128, 255, 256, 257, 0x7fffffff, 0x80000000, 0xffffffff])
    if role == "lane":
        return rng.choice(list(range(0, 34)) + [63, 64, 0xffffffff])
    if role == "clamp":  # shfl's c: clamp in bits 0-4, segments in bits 8-12
        return rng.choice([31, 0, 0x1e1f, 0x181f, 0x100f, 0x1c03, rng.getrandbits(13)])
    if role == "bool":
        return rng.getrandbits(1)
    if role == "few":
        return rng.getrandbits(2) << (30 if "64" in base else 0)
    if role == "selector":
        return rng.getrandbits(16) | (rng.getrandbits(16) << 16 if rng.random() < 0.1 else 0)
    if role == "offset":
        return rng.choice([0, 1, 2, 3, 5, 31, 32, 0xffffffff, 0xfffffffe, 0xfffffff8])
    if base in ("f16x2", "bf16x2"):
        half = base[:-2] + (":" + role if role else "")
        return one(half, rng, special) | one(half, rng, special) << 16
    if role == "bits":
        return rng.getrandbits(width_of(base))
    if base == "tf32":  # all bits of a float: the instruction takes the upper ones
        return one("f32" + (":" + role if role else ""), rng, special)
    if base in ("e4m3x4", "e5m2x4"):
        return sum(byte_float(base[:4], role, rng) << 8 * k for k in range(4))
    if role == "cancel":
        return cancelling(base, rng)
    if role in ("tiny", "tiny sum"):
        return tiny(base, rng, role == "tiny sum")
    if role in ("unit", "wide"):  # ordinary numbers: of one magnitude, and of many
        exponent_bits, fraction_bits = FORMATS[base]
        bias, reach = (1 << (exponent_bits - 1)) - 1, (2 if role == "unit" else 12)
        exponent = bias + rng.randint(-reach, 0 if role == "unit" else 3)
        return rng.getrandbits(1) << (exponent_bits + fraction_bits) | exponent << fraction_bits | rng.getrandbits(fraction_bits)
    if base in ("e4m3x2", "e5m2x2"):
        return rng.getrandbits(16)
    if base in FORMATS:
        return rng.choice(special_floats(base)) if special else random_float(base, rng)
    return random_integer(width_of(base), rng)


def byte_float(fmt, role, rng):
    fraction_bits = 3 if fmt == "e4m3" else 2
    bias = 7 if fmt == "e4m3" else 15
    if role == "":
        return rng.getrandbits(8)
    if role == "tiny" and rng.random() < 0.6:
        return rng.getrandbits(1) << 7 | rng.getrandbits(fraction_bits)
    reach = {"unit": (-2, 0), "wide": (-6, 6), "cancel": (-5, 5), "tiny": (-3, 6)}[role]
    exponent = bias + (rng.randint(*reach) if role != "cancel" else rng.choice(reach))
    return rng.getrandbits(1) << 7 | exponent << fraction_bits | rng.getrandbits(fraction_bits)


def tiny(fmt, rng, addend):
    """Subnormal numbers of every size, and factors that lead their products to the normal ones; addends that leave these be."""
    exponent_bits, fraction_bits = FORMATS[fmt]
    bias = (1 << (exponent_bits - 1)) - 1
    sign = rng.getrandbits(1) << (exponent_bits + fraction_bits)
    if addend and rng.random() < 0.6:
        return sign
    if rng.random() < 0.6:
        return sign | rng.getrandbits(rng.randint(1, fraction_bits))
    reach = 6 if exponent_bits == 5 or rng.random() < 0.5 else 120
    exponent = rng.randint(1, 12) if addend else bias + rng.randint(-3, reach)
    return sign | exponent << fraction_bits | rng.getrandbits(fraction_bits)


def cancelling(fmt, rng):
    """Magnitudes whose products and sums meet at the last bits of the sum's format: large ones cancel, small ones stay."""
    exponent_bits, fraction_bits = FORMATS[fmt]
    bias = (1 << (exponent_bits - 1)) - 1
    exponents = {"f16": (0, 0, -11, -12, -13), "bf16": (0, 0, -11, -12, -13), "f32": (0, 1, 1, -11, -12, -22, -23, -24, -25),
                 "f64": (0, 0, 1, -25, -26, -27, -52, -53)}[fmt]
    fraction = rng.choice([0, 0, 1 << (fraction_bits - 1), 1, (1 << fraction_bits) - 1, rng.getrandbits(fraction_bits)])
    return rng.getrandbits(1) << (exponent_bits + fraction_bits) | bias + rng.choice(exponents) << fraction_bits | fraction


def near_the_smallest(fmt, rng):
    """Two factors and an addend whose product or sum lies about the smallest normal number, or at a tie below it."""
    exponent_bits, fraction_bits = FORMATS[fmt]
    one = ((1 << (exponent_bits - 1)) - 1) << fraction_bits
    sign = rng.getrandbits(1) << (exponent_bits + fraction_bits)
    shift = rng.randint(0, 4)
    a = (1 + shift << fraction_bits) + rng.choice([0, 0, 1, 2, rng.getrandbits(fraction_bits)])
    b = one - (shift << fraction_bits) + rng.choice([-1, -2, -3, -rng.getrandbits(fraction_bits), 1, -(1 << fraction_bits)])
    c = rng.choice([0, 0, 1, 2, (1 << fraction_bits) - 1, 1 << (exponent_bits + fraction_bits), 1 | 1 << (exponent_bits + fraction_bits)])
    return [a | sign, b, c]


def make_set(kinds, threads):
    """One line a thread."""
    rng = random.Random(",".join(kinds))
    lines = []
    if len(kinds) == 1 and kinds[0] in FORMATS:
        lines = [(bits,) for bits in special_floats(kinds[0])]
        edges = [(bits,) for bits in edges_of_conversion(kinds[0])]
        rng.shuffle(edges)
        lines += edges[: threads * 5 // 8 - len(lines)]
    elif len(kinds) == 1 and kinds[0] in ("e4m3x2", "e5m2x2"):
        lines = [(low | (255 - low) << 8,) for low in range(256)]
    elif len(kinds) == 1 and ":" not in kinds[0] and kinds[0] not in ("f16x2", "bf16x2"):
        lines = [(bits,) for bits in special_integers(width_of(kinds[0]))][: threads // 2]
    while len(lines) < threads:
        special = len(lines) < threads // 2
        line = [one(kind, rng, special or rng.random() < 0.05) for kind in kinds]
        floats = [k for k, kind in enumerate(kinds) if kind in FORMATS]
        pairs = [k for k, kind in enumerate(kinds) if kind in ("f16x2", "bf16x2")]
        if len(floats) >= 2 and not special and rng.random() < 0.2:
            for k, bits in zip([k for k in floats if kinds[k] == kinds[floats[0]]], near_the_smallest(kinds[floats[0]], rng)):
                line[k] = bits
            lines.append(tuple(line))
            continue
        if len(pairs) >= 2 and not special and rng.random() < 0.2:
            for k, bits in zip(pairs, near_the_smallest(kinds[pairs[0]][:-2], rng)):
                line[k] = line[k] & 0xffff0000 | bits
        if len(floats) >= 2 and not special and rng.random() < 0.4:  # cancellation, equal values, near ties
            a, b = floats[0], floats[1]
            line[b] = line[a] ^ rng.choice([0, 1, 2]) ^ (rng.getrandbits(1) << (width_of(kinds[a]) - 1))
        lines.append(tuple(line))
    return lines[:threads]
