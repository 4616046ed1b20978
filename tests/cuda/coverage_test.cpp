// Counters of basic blocks in PTX, as text.
#include "harness/device/cuda/coverage.h"

#include <gtest/gtest.h>

namespace assay::cuda {
namespace {

TEST(BlockCounters, StandAtTheStartAtLabelsAndAfterConditionalBranches) {
  const CountedPtx counted = with_block_counters(R"(.version 8.0
.target sm_90
.address_size 64

	// .globl	k
.visible .entry k(
	.param .u64 k_param_0
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;

	.loc	1 3 5
	ld.param.u64 	%rd1, [k_param_0];
	@%p1 bra 	$L__BB0_2;

	mov.u32 	%r1, 1;
$L__BB0_2:
	.pragma "nounroll";
	add.s32 	%r2, %r1, 1;
	@!%p1 bra 	$L__BB0_2;
	bra.uni 	$L__BB0_3;

$L__BB0_3:
	ret;

}
)");
  EXPECT_EQ(counted.blocks, 5u);
  EXPECT_EQ(counted.text, R"(.version 8.0
.target sm_90
.address_size 64
.visible .global .align 8 .b8 assay_blocks[5];

	// .globl	k
.visible .entry k(
	.param .u64 k_param_0
)
.maxntid 256, 1, 1
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<3>;

	.loc	1 3 5
	.reg .b16 %assay_hit;
	mov.b16 %assay_hit, 1;
	st.global.u8 [assay_blocks+0], %assay_hit;
	ld.param.u64 	%rd1, [k_param_0];
	@%p1 bra 	$L__BB0_2;
	st.global.u8 [assay_blocks+1], %assay_hit;

	mov.u32 	%r1, 1;
$L__BB0_2:
	st.global.u8 [assay_blocks+2], %assay_hit;
	.pragma "nounroll";
	add.s32 	%r2, %r1, 1;
	@!%p1 bra 	$L__BB0_2;
	st.global.u8 [assay_blocks+3], %assay_hit;
	bra.uni 	$L__BB0_3;

$L__BB0_3:
	st.global.u8 [assay_blocks+4], %assay_hit;
	ret;

}
)");
}

TEST(BlockCounters, ABranchBeforeALabelBeginsNoBlockOfItsOwn) {
  EXPECT_EQ(with_block_counters(".address_size 64\n.entry k()\n{\n\t@%p1 bra L;\nL:\n\tret;\n}\n").blocks,
            2u);
}

TEST(BlockCounters, TablesInitialisersAndCommentsAreNoBlocks) {
  const CountedPtx counted = with_block_counters(R"(.address_size 64
.global .align 4 .b8 table[8] = {
1, 2, 3, 4
};
/* a
label: */
.func  (.param .b32 r) f(
	.param .b32 a
)
{
	{
	.reg .b32 temp;
	mov.b32 temp, 1;
	}
	$L_brx_0: .branchtargets
		A, B;
	prototype_0 :
	.callprototype ()_ (.param .b32 _);
	ret;
}
)");
  EXPECT_EQ(counted.blocks, 1u);
  // The register is declared outside the inner scope.
  EXPECT_LT(counted.text.find("%assay_hit"), counted.text.find("temp"));
  EXPECT_EQ(counted.text.find("assay_blocks+0"), counted.text.rfind("assay_blocks+"));
}

TEST(BlockCounters, NothingToCountGivesNothing) {
  EXPECT_EQ(with_block_counters("").blocks, 0u);
  EXPECT_EQ(with_block_counters("rubbish }{ }}}\n").text, "");
  EXPECT_EQ(with_block_counters(".entry k()\n{\n\tret;\n}\n").blocks, 0u); // where would the variable go?
}

} // namespace
} // namespace assay::cuda
