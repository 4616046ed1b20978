#include "harness/device/cpu/ptx/catalogue.h"

#include <array>
#include <unordered_map>
#include <vector>

namespace assay::ptx {
namespace {

#define INT "u16|u32|u64|s16|s32|s64"
#define BITS "b16|b32|b64"
#define ROUND "rn|rz|rm|rp?"
#define SEMANTICS "volatile|weak|relaxed|acquire|release?"
#define SCOPE "cta|cluster|gpu|sys?"
#define SPACE "global|shared|shared::cta|local|const|param|param::entry|param::func?"
#define VALUE "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"
#define RELATION "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
#define FLOAT_RELATION "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define HALF "f16|f16x2|bf16|bf16x2"
#define TILES "m16n16k16|m32n8k16|m8n32k16"
#define WINDOW "global|shared|shared::cta?"
#define ORDERED "relaxed|acquire|release|acq_rel"
#define ORDER ORDERED "?"
#define ATOMIC_SPACE "global|shared|shared::cta?"
#define MBARRIER_SPACE "shared|shared::cta?"
#define SPACE_SCOPE "global|shared|shared::cta cta|cluster|gpu|sys"
#define CACHE "ca|cg|cs|lu|cv|wb|wt?"
#define HINTS                                                                                                \
  "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate? "                    \
  "L2::evict_normal|L2::evict_first|L2::evict_last? L2::64B|L2::128B|L2::256B?"

constexpr std::array forms{
    // integers
    Form{"add", INT, 3, 3},
    Form{"add", "sat s32", 3, 3},
    Form{"add", "cc u32|s32|u64|s64", 3, 3},
    Form{"sub", INT, 3, 3},
    Form{"sub", "sat s32", 3, 3},
    Form{"sub", "cc u32|s32|u64|s64", 3, 3},
    Form{"addc", "cc? u32|s32|u64|s64", 3, 3},
    Form{"subc", "cc? u32|s32|u64|s64", 3, 3},
    Form{"mul", "lo|hi " INT, 3, 3},
    Form{"mul", "wide u16|u32|s16|s32", 3, 3},
    Form{"mul24", "lo|hi u32|s32", 3, 3},
    Form{"mad", "lo|hi " INT, 4, 4},
    Form{"mad", "wide u16|u32|s16|s32", 4, 4},
    Form{"mad", "hi sat s32", 4, 4},
    Form{"mad", "lo|hi cc u32|s32|u64|s64", 4, 4},
    Form{"madc", "lo|hi cc? u32|s32|u64|s64", 4, 4},
    Form{"mad24", "lo|hi u32|s32", 4, 4},
    Form{"div", INT, 3, 3},
    Form{"rem", INT, 3, 3},
    Form{"abs", "s16|s32|s64", 2, 2},
    Form{"neg", "s16|s32|s64", 2, 2},
    Form{"min", INT, 3, 3},
    Form{"max", INT, 3, 3},
    Form{"min", "relu s32|s16x2", 3, 3},
    Form{"max", "relu s32|s16x2", 3, 3},
    Form{"min", "s32|s16x2 relu", 3, 3}, // as the CUDA headers write it
    Form{"max", "s32|s16x2 relu", 3, 3},
    Form{"add", "u16x2|s16x2", 3, 3},
    Form{"min", "u16x2|s16x2", 3, 3},
    Form{"max", "u16x2|s16x2", 3, 3},
    Form{"vabsdiff2", "u32 u32 u32 add?", 4, 4},
    Form{"vabsdiff4", "u32 u32 u32 add?", 4, 4},
    Form{"sad", INT, 4, 4},
    Form{"dp4a", "u32|s32 u32|s32", 4, 4},
    Form{"dp2a", "lo|hi u32|s32 u32|s32", 4, 4},
    // logic and bits
    Form{"and", "pred|" BITS, 3, 3},
    Form{"or", "pred|" BITS, 3, 3},
    Form{"xor", "pred|" BITS, 3, 3},
    Form{"not", "pred|" BITS, 2, 2},
    Form{"cnot", BITS, 2, 2},
    Form{"lop3", "b32", 5, 5},
    Form{"shl", BITS, 3, 3},
    Form{"shr", BITS "|" INT, 3, 3},
    Form{"shf", "l|r wrap|clamp b32", 4, 4},
    Form{"bfe", "u32|s32|u64|s64", 4, 4},
    Form{"bfi", "b32|b64", 5, 5},
    Form{"clz", "b32|b64", 2, 2},
    Form{"popc", "b32|b64", 2, 2},
    Form{"brev", "b32|b64", 2, 2},
    Form{"bfind", "shiftamt? u32|s32|u64|s64", 2, 2},
    Form{"bmsk", "clamp|wrap b32", 3, 3},
    Form{"prmt", "b32 f4e|b4e|rc8|ecl|ecr|rc16?", 4, 4},
    Form{"fns", "b32", 4, 4},
    // f32 and f64
    Form{"add", ROUND " ftz? sat? f32", 3, 3},
    Form{"sub", ROUND " ftz? sat? f32", 3, 3},
    Form{"mul", ROUND " ftz? sat? f32", 3, 3},
    Form{"fma", "rn|rz|rm|rp ftz? sat? f32", 4, 4},
    Form{"mad", ROUND " ftz? sat? f32", 4, 4},
    Form{"add", ROUND " f64", 3, 3},
    Form{"sub", ROUND " f64", 3, 3},
    Form{"mul", ROUND " f64", 3, 3},
    Form{"fma", "rn|rz|rm|rp f64", 4, 4},
    Form{"mad", ROUND " f64", 4, 4},
    Form{"div", "rn|rz|rm|rp|approx|full ftz? f32", 3, 3},
    Form{"div", "rn|rz|rm|rp f64", 3, 3},
    Form{"rcp", "rn|rz|rm|rp|approx ftz? f32", 2, 2},
    Form{"rcp", "rn|rz|rm|rp f64", 2, 2},
    Form{"rcp", "approx ftz f64", 2, 2},
    Form{"sqrt", "rn|rz|rm|rp|approx ftz? f32", 2, 2},
    Form{"sqrt", "rn|rz|rm|rp f64", 2, 2},
    Form{"rsqrt", "approx ftz? f32|f64", 2, 2},
    Form{"ex2", "approx ftz? f32", 2, 2},
    Form{"lg2", "approx ftz? f32", 2, 2},
    Form{"sin", "approx ftz? f32", 2, 2},
    Form{"cos", "approx ftz? f32", 2, 2},
    Form{"tanh", "approx f32", 2, 2},
    Form{"abs", "ftz? f32", 2, 2},
    Form{"neg", "ftz? f32", 2, 2},
    Form{"abs", "f64", 2, 2},
    Form{"neg", "f64", 2, 2},
    Form{"min", "ftz? NaN? xorsign? abs? f32", 3, 4},
    Form{"max", "ftz? NaN? xorsign? abs? f32", 3, 4},
    Form{"min", "f64", 3, 3},
    Form{"max", "f64", 3, 3},
    Form{"copysign", "f32|f64", 3, 3},
    Form{"testp", "finite|infinite|number|notanumber|normal|subnormal f32|f64", 2, 2},
    // halves
    Form{"add", "rn? ftz? sat? f16|f16x2", 3, 3},
    Form{"add", "rn? bf16|bf16x2", 3, 3},
    Form{"sub", "rn? ftz? sat? f16|f16x2", 3, 3},
    Form{"sub", "rn? bf16|bf16x2", 3, 3},
    Form{"mul", "rn? ftz? sat? f16|f16x2", 3, 3},
    Form{"mul", "rn? bf16|bf16x2", 3, 3},
    Form{"fma", "rn ftz? sat|relu? f16|f16x2", 4, 4},
    Form{"fma", "rn relu? bf16|bf16x2", 4, 4},
    Form{"min", "ftz? NaN? " HALF, 3, 4},
    Form{"max", "ftz? NaN? " HALF, 3, 4},
    Form{"abs", "ftz? " HALF, 2, 2},
    Form{"neg", "ftz? " HALF, 2, 2},
    Form{"ex2", "approx f16|f16x2", 2, 2},
    Form{"ex2", "approx ftz bf16|bf16x2", 2, 2},
    Form{"tanh", "approx " HALF, 2, 2},
    // comparison and selection
    Form{"setp", RELATION " b16|b32|b64|" INT, 3, 3},
    Form{"setp", RELATION " and|or|xor b16|b32|b64|" INT, 4, 4},
    Form{"setp", FLOAT_RELATION " ftz? f32|f64|" HALF, 3, 3},
    Form{"setp", FLOAT_RELATION " and|or|xor ftz? f32|f64|" HALF, 4, 4},
    Form{"set", RELATION " u32|s32|f32|f16|bf16 b16|b32|b64|" INT, 3, 3},
    Form{"set", RELATION " and|or|xor u32|s32|f32 b16|b32|b64|" INT, 4, 4},
    Form{"set", FLOAT_RELATION " ftz? u16|s16|u32|s32|f32|" HALF " f32|f64|" HALF, 3, 3},
    Form{"set", FLOAT_RELATION " and|or|xor ftz? u16|s16|u32|s32|f32|" HALF " f32|f64|" HALF, 4, 4},
    Form{"selp", BITS "|" INT "|f32|f64", 4, 4},
    Form{"slct", BITS "|" INT "|f32|f64 s32", 4, 4},
    Form{"slct", "ftz? " BITS "|" INT "|f32|f64 f32", 4, 4},
    // conversion
    Form{"cvt", "sat? u8|u16|u32|u64|s8|s16|s32|s64 u8|u16|u32|u64|s8|s16|s32|s64", 2, 2},
    Form{"cvt", "rni|rzi|rmi|rpi ftz? sat? u8|u16|u32|u64|s8|s16|s32|s64 f16|bf16|f32|f64", 2, 2},
    Form{"cvt", "rn|rz|rm|rp ftz? sat? f16|bf16|f32|f64 u8|u16|u32|u64|s8|s16|s32|s64", 2, 2},
    Form{"cvt", "rn|rz|rm|rp|rni|rzi|rmi|rpi? ftz? relu? satfinite? sat? f16|bf16|f32|f64 f16|bf16|f32|f64",
         2, 2},
    Form{"cvt", "rn|rz relu? satfinite? f16x2|bf16x2 f32", 3, 3},
    Form{"cvt", "rn|rna|rz relu? satfinite? tf32 f32", 2, 2},
    Form{"cvt", "rn satfinite relu? e4m3x2|e5m2x2 f32", 3, 3},
    Form{"cvt", "rn satfinite relu? e4m3x2|e5m2x2 f16x2", 2, 2},
    Form{"cvt", "rn relu? f16x2 e4m3x2|e5m2x2", 2, 2},
    // moves and addresses
    Form{"mov", "pred|" BITS "|b128|" INT "|f32|f64", 2, 2},
    Form{"cvta", "to? global|shared|shared::cta|local|const|param|param::entry u32|u64", 2, 2},
    Form{"isspacep", "global|shared|shared::cta|local|param", 2, 2},
    // memory
    Form{"ld", SEMANTICS " " SCOPE " " SPACE " " CACHE " nc? " HINTS " v2|v4|v8? " VALUE, 2, 2},
    Form{"ldu", "global? v2|v4? " VALUE, 2, 2},
    Form{"st", SEMANTICS " " SCOPE " " SPACE " " CACHE " " HINTS " v2|v4|v8? " VALUE, 2, 2},
    // as the ISA writes them; with the operation first, as libcu++ and cooperative groups do; and with the
    // space before the scope, as NVVM does
    Form{"atom", ORDER " " SCOPE " " ATOMIC_SPACE " and|or|xor b32|b64", 3, 3},
    Form{"atom", ORDER " " SCOPE " " ATOMIC_SPACE " exch b32|b64|b128", 3, 3},
    Form{"atom", ORDER " " SCOPE " " ATOMIC_SPACE " cas b16|b32|b64|b128", 4, 4},
    Form{"atom", ORDER " " SCOPE " " ATOMIC_SPACE " add u32|s32|u64|f32|f64", 3, 3},
    Form{"atom", ORDER " " SCOPE " " ATOMIC_SPACE " add noftz " HALF, 3, 3},
    Form{"atom", ORDER " " SCOPE " " ATOMIC_SPACE " inc|dec u32", 3, 3},
    Form{"atom", ORDER " " SCOPE " " ATOMIC_SPACE " min|max u32|s32|u64|s64", 3, 3},
    Form{"atom", ORDER " " SCOPE " global? add v2|v4 f32", 3, 3},
    Form{"atom", ORDER " " SCOPE " global? add|min|max noftz v2|v4|v8 f16|bf16", 3, 3},
    Form{"atom", ORDER " " SCOPE " global? add|min|max noftz v2|v4 f16x2|bf16x2", 3, 3},
    Form{"atom", "and|or|xor " ORDERED " " SCOPE " " ATOMIC_SPACE " b32|b64", 3, 3},
    Form{"atom", "exch " ORDERED " " SCOPE " " ATOMIC_SPACE " b32|b64|b128", 3, 3},
    Form{"atom", "cas " ORDERED " " SCOPE " " ATOMIC_SPACE " b16|b32|b64|b128", 4, 4},
    Form{"atom", "add " ORDERED " " SCOPE " " ATOMIC_SPACE " u32|s32|u64|f32|f64", 3, 3},
    Form{"atom", "inc|dec " ORDERED " " SCOPE " " ATOMIC_SPACE " u32", 3, 3},
    Form{"atom", "min|max " ORDERED " " SCOPE " " ATOMIC_SPACE " u32|s32|u64|s64", 3, 3},
    Form{"atom", SPACE_SCOPE " and|or|xor b32|b64", 3, 3},
    Form{"atom", SPACE_SCOPE " exch b32|b64|b128", 3, 3},
    Form{"atom", SPACE_SCOPE " cas b16|b32|b64|b128", 4, 4},
    Form{"atom", SPACE_SCOPE " add u32|s32|u64|f32|f64", 3, 3},
    Form{"atom", SPACE_SCOPE " add noftz " HALF, 3, 3},
    Form{"atom", SPACE_SCOPE " inc|dec u32", 3, 3},
    Form{"atom", SPACE_SCOPE " min|max u32|s32|u64|s64", 3, 3},
    Form{"red", "relaxed|release? " SCOPE " " ATOMIC_SPACE " and|or|xor b32|b64", 2, 2},
    Form{"red", "relaxed|release? " SCOPE " " ATOMIC_SPACE " add u32|s32|u64|f32|f64", 2, 2},
    Form{"red", "relaxed|release? " SCOPE " " ATOMIC_SPACE " add noftz " HALF, 2, 2},
    Form{"red", "relaxed|release? " SCOPE " " ATOMIC_SPACE " inc|dec u32", 2, 2},
    Form{"red", "relaxed|release? " SCOPE " " ATOMIC_SPACE " min|max u32|s32|u64|s64", 2, 2},
    Form{"red", "relaxed|release? " SCOPE " global? add v2|v4 f32", 2, 2},
    Form{"red", "relaxed|release? " SCOPE " global? add|min|max noftz v2|v4|v8 f16|bf16", 2, 2},
    Form{"red", "relaxed|release? " SCOPE " global? add|min|max noftz v2|v4 f16x2|bf16x2", 2, 2},
    Form{"red", "and|or|xor relaxed|release " SCOPE " " ATOMIC_SPACE " b32|b64", 2, 2},
    Form{"red", "add relaxed|release " SCOPE " " ATOMIC_SPACE " u32|s32|u64|f32|f64", 2, 2},
    Form{"red", "inc|dec relaxed|release " SCOPE " " ATOMIC_SPACE " u32", 2, 2},
    Form{"red", "min|max relaxed|release " SCOPE " " ATOMIC_SPACE " u32|s32|u64|s64", 2, 2},
    Form{"red", SPACE_SCOPE " and|or|xor b32|b64", 2, 2},
    Form{"red", SPACE_SCOPE " add u32|s32|u64|f32|f64", 2, 2},
    Form{"red", SPACE_SCOPE " add noftz " HALF, 2, 2},
    Form{"red", SPACE_SCOPE " inc|dec u32", 2, 2},
    Form{"red", SPACE_SCOPE " min|max u32|s32|u64|s64", 2, 2},
    Form{"cp", "async ca|cg shared|shared::cta global L2::64B|L2::128B|L2::256B?", 3, 4},
    Form{"cp", "async commit_group|wait_all", 0, 0},
    Form{"cp", "async wait_group", 1, 1},
    Form{"cp", "async mbarrier arrive noinc? shared|shared::cta? b64", 1, 1},
    Form{"mbarrier", "init " MBARRIER_SPACE " b64", 2, 2},
    Form{"mbarrier", "inval " MBARRIER_SPACE " b64", 1, 1},
    Form{"mbarrier", "arrive|arrive_drop noComplete? release|relaxed? cta|cluster? " MBARRIER_SPACE " b64", 2,
         3},
    Form{"mbarrier", "arrive|arrive_drop expect_tx release|relaxed? cta|cluster? " MBARRIER_SPACE " b64", 3,
         3},
    Form{"mbarrier", "expect_tx|complete_tx relaxed? cta|cluster? " MBARRIER_SPACE " b64", 2, 2},
    Form{"mbarrier", "test_wait parity? acquire|relaxed? cta|cluster? " MBARRIER_SPACE " b64", 3, 3},
    Form{"mbarrier", "try_wait parity? acquire|relaxed? cta|cluster? " MBARRIER_SPACE " b64", 3, 4},
    Form{"mbarrier", "pending_count b64", 2, 2},
    Form{"membar", "cta|gl|sys", 0, 0},
    Form{"fence", "sc|acq_rel? cta|cluster|gpu|sys", 0, 0},
    Form{"prefetch", "global|local? L1|L2", 1, 1},
    Form{"prefetch", "global L2::evict_last|L2::evict_normal", 1, 1},
    Form{"prefetchu", "L1", 1, 1},
    Form{"discard", "global? L2", 2, 2},
    Form{"applypriority", "global? L2::evict_normal", 2, 2},
    // the warp and the block
    Form{"shfl", "sync up|down|bfly|idx b32", 5, 5},
    Form{"vote", "sync all|any|uni pred", 3, 3},
    Form{"vote", "sync ballot b32", 3, 3},
    Form{"match", "any|all sync b32|b64", 3, 3},
    Form{"redux", "sync add|min|max u32|s32", 3, 3},
    Form{"redux", "sync and|or|xor b32", 3, 3},
    Form{"activemask", "b32", 1, 1},
    Form{"elect", "sync", 2, 2},
    Form{"bar", "warp sync", 1, 1},
    Form{"bar", "cta? sync", 1, 2},
    Form{"bar", "cta? arrive", 2, 2},
    Form{"bar", "cta? red popc u32", 3, 4},
    Form{"bar", "cta? red and|or pred", 3, 4},
    Form{"barrier", "cta? sync aligned?", 1, 2},
    Form{"barrier", "cta? arrive aligned?", 2, 2},
    Form{"barrier", "cta? red popc aligned? u32", 3, 4},
    Form{"barrier", "cta? red and|or aligned? pred", 3, 4},
    // matrices
    Form{"ldmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16", 2, 2},
    Form{"stmatrix", "sync aligned m8n8 x1|x2|x4 trans? shared|shared::cta? b16", 2, 2},
    Form{"movmatrix", "sync aligned m8n8 trans b16", 2, 2},
    // tensor cores
    Form{"mma", "sync aligned m16n8k8|m16n8k16 row col f32 f16 f16 f32", 4, 4},
    Form{"mma", "sync aligned m16n8k8|m16n8k16 row col f16 f16 f16 f16", 4, 4},
    Form{"mma", "sync aligned m16n8k8|m16n8k16 row col f32 bf16 bf16 f32", 4, 4},
    Form{"mma", "sync aligned m16n8k4|m16n8k8 row col f32 tf32 tf32 f32", 4, 4},
    Form{"mma", "sync aligned m16n8k16|m16n8k32 row col f32 e4m3|e5m2 e4m3|e5m2 f32", 4, 4},
    Form{"mma", "sync aligned m16n8k16|m16n8k32 row col f16 e4m3|e5m2 e4m3|e5m2 f16", 4, 4},
    Form{"mma", "sync aligned m8n8k4|m16n8k4|m16n8k8|m16n8k16 row col " ROUND " f64 f64 f64 f64", 4, 4},
    Form{"mma", "sync aligned m8n8k4|m16n8k4|m16n8k8|m16n8k16 row col f64 f64 f64 f64 rn|rz|rm|rp", 4, 4},
    Form{"mma", "sync aligned m8n8k16|m16n8k16|m16n8k32 row col satfinite? s32 s8|u8 s8|u8 s32", 4, 4},
    Form{"mma", "sync aligned m8n8k16|m16n8k16|m16n8k32 row col s32 s8|u8 s8|u8 s32 satfinite", 4, 4},
    Form{"mma", "sync aligned m8n8k32|m16n8k32|m16n8k64 row col satfinite? s32 s4|u4 s4|u4 s32", 4, 4},
    Form{"mma", "sync aligned m8n8k32|m16n8k32|m16n8k64 row col s32 s4|u4 s4|u4 s32 satfinite", 4, 4},
    Form{"mma", "sync aligned m8n8k128|m16n8k128|m16n8k256 row col s32 b1 b1 s32 and|xor popc", 4, 4},
    Form{"wmma", "load a|b sync aligned row|col " TILES " " WINDOW " f16|bf16|s8|u8", 2, 3},
    Form{"wmma", "load a|b sync aligned row|col m16n16k8 " WINDOW " tf32", 2, 3},
    Form{"wmma", "load a|b sync aligned row|col m8n8k4 " WINDOW " f64", 2, 3},
    Form{"wmma", "load a sync aligned row m8n8k32 " WINDOW " s4|u4", 2, 3},
    Form{"wmma", "load b sync aligned col m8n8k32 " WINDOW " s4|u4", 2, 3},
    Form{"wmma", "load a sync aligned row m8n8k128 " WINDOW " b1", 2, 3},
    Form{"wmma", "load b sync aligned col m8n8k128 " WINDOW " b1", 2, 3},
    Form{"wmma", "load c sync aligned row|col " TILES " " WINDOW " f16|f32|s32", 2, 3},
    Form{"wmma", "load c sync aligned row|col m16n16k8 " WINDOW " f32", 2, 3},
    Form{"wmma", "load c sync aligned row|col m8n8k4 " WINDOW " f64", 2, 3},
    Form{"wmma", "load c sync aligned row|col m8n8k32|m8n8k128 " WINDOW " s32", 2, 3},
    Form{"wmma", "store d sync aligned row|col " TILES " " WINDOW " f16|f32|s32", 2, 3},
    Form{"wmma", "store d sync aligned row|col m16n16k8 " WINDOW " f32", 2, 3},
    Form{"wmma", "store d sync aligned row|col m8n8k4 " WINDOW " f64", 2, 3},
    Form{"wmma", "store d sync aligned row|col m8n8k32|m8n8k128 " WINDOW " s32", 2, 3},
    Form{"wmma", "mma sync aligned row|col row|col " TILES " f16|f32 f16|f32", 4, 4},
    Form{"wmma", "mma sync aligned row|col row|col " TILES " f32 bf16 bf16 f32", 4, 4},
    Form{"wmma", "mma sync aligned row|col row|col m16n16k8 f32 tf32 tf32 f32", 4, 4},
    Form{"wmma", "mma sync aligned row|col row|col m8n8k4 " ROUND " f64 f64 f64 f64", 4, 4},
    Form{"wmma", "mma sync aligned row|col row|col m8n8k4 f64 f64 f64 f64 rn|rz|rm|rp", 4, 4},
    Form{"wmma", "mma sync aligned row|col row|col " TILES " s32 s8 s8 s32 satfinite?", 4, 4},
    Form{"wmma", "mma sync aligned row|col row|col " TILES " s32 u8 u8 s32 satfinite?", 4, 4},
    Form{"wmma", "mma sync aligned row col m8n8k32 s32 s4 s4 s32 satfinite?", 4, 4},
    Form{"wmma", "mma sync aligned row col m8n8k32 s32 u4 u4 s32 satfinite?", 4, 4},
    Form{"wmma", "mma xor|and popc sync aligned row col m8n8k128 s32 b1 b1 s32", 4, 4},
    // control
    Form{"bra", "uni?", 1, 1},
    Form{"brx", "idx uni?", 2, 2},
    Form{"call", "uni?", 1, 4}, // a function's name or a register
    Form{"ret", "uni?", 0, 0},
    Form{"exit", "", 0, 0},
    Form{"trap", "", 0, 0},
    Form{"brkpt", "", 0, 0},
    Form{"nanosleep", "u32", 1, 1},
    Form{"pmevent", "mask?", 1, 1},
    Form{"griddepcontrol", "launch_dependents|wait", 0, 0},
    Form{"setmaxnreg", "inc|dec sync aligned u32", 1, 1},
};

struct Slot {
  std::vector<std::string_view> alternatives;
  bool optional = false;
};
struct Compiled {
  const Form* form = nullptr;
  std::vector<Slot> slots;
};

std::vector<Slot> compile(std::string_view text) {
  std::vector<Slot> slots;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    Slot slot;
    if (word.ends_with('?')) {
      slot.optional = true;
      word.remove_suffix(1);
    }
    for (;;) {
      const std::size_t bar = word.find('|');
      slot.alternatives.push_back(word.substr(0, bar));
      if (bar == std::string_view::npos) break;
      word.remove_prefix(bar + 1);
    }
    slots.push_back(std::move(slot));
  }
  return slots;
}

using Index = std::unordered_map<std::string_view, std::vector<Compiled>>;

const Index& index() {
  static const Index built = [] {
    Index made;
    for (const Form& form : forms) made[form.opcode].push_back({&form, compile(form.form)});
    return made;
  }();
  return built;
}

bool fits(const Compiled& compiled, const Instruction& instruction) {
  std::size_t next = 0;
  for (const Slot& slot : compiled.slots) {
    bool taken = false;
    if (next < instruction.modifiers.size())
      for (const std::string_view alternative : slot.alternatives)
        taken = taken || alternative == instruction.modifiers[next];
    if (taken)
      ++next;
    else if (!slot.optional)
      return false;
  }
  return next == instruction.modifiers.size();
}

std::string written(const Instruction& instruction) {
  std::string text(instruction.opcode);
  for (const std::string_view modifier : instruction.modifiers) text.append(".").append(modifier);
  return text.size() > 120 ? text.substr(0, 120) + "..." : text;
}

} // namespace

std::span<const Form> supported_forms() { return forms; }

std::string to_string(const Form& form) {
  std::string text(form.opcode);
  for (const Slot& slot : compile(form.form)) {
    if (slot.optional) text += '{';
    for (std::size_t k = 0; k < slot.alternatives.size(); ++k)
      text.append(k == 0 ? "." : "|.").append(slot.alternatives[k]);
    if (slot.optional) text += '}';
  }
  return text;
}

Result<void> check_supported(const Instruction& instruction, std::string_view origin) {
  const Place place{std::string(origin), static_cast<int>(instruction.line), 0};
  const auto found = index().find(instruction.opcode);
  if (found == index().end())
    return environment_error(place, "the CPU device does not support the instruction '{}'",
                             written(instruction));
  const std::size_t count = instruction.operands.size();
  bool known = false;
  for (const Compiled& compiled : found->second) {
    if (!fits(compiled, instruction)) continue;
    known = true;
    if (count >= compiled.form->min_operands && count <= compiled.form->max_operands) return {};
  }
  if (known) return user_error(place, "'{}' does not take {} operands", written(instruction), count);
  return environment_error(place, "the CPU device does not support the instruction '{}'",
                           written(instruction));
}

Result<void> check_supported(const Module& module) {
  for (const Function& function : module.functions)
    for (const Instruction& instruction : function.instructions)
      ASSAY_TRY_VOID(check_supported(instruction, module.origin));
  return {};
}

} // namespace assay::ptx
