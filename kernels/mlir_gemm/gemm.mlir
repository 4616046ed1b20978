// c = a b, a block of 16 x 16 threads a tile of c; tiles of a and b go through workgroup memory.
!tile = memref<16x16xf32, #gpu.address_space<workgroup>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>)
        workgroup(%left: !tile, %right: !tile) kernel {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %nothing = arith.constant 0.0 : f32
      %m = memref.dim %c, %c0 : memref<?x?xf32>
      %n = memref.dim %c, %c1 : memref<?x?xf32>
      %k = memref.dim %a, %c1 : memref<?x?xf32>
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %j = gpu.global_id x
      %i = gpu.global_id y
      %row_inside = arith.cmpi ult, %i, %m : index
      %col_inside = arith.cmpi ult, %j, %n : index

      %total = scf.for %start = %c0 to %k step %c16 iter_args(%sum = %nothing) -> (f32) {
        %across = arith.addi %start, %tx : index
        %across_inside = arith.cmpi ult, %across, %k : index
        %a_inside = arith.andi %row_inside, %across_inside : i1
        %av = scf.if %a_inside -> (f32) {
          %v = memref.load %a[%i, %across] : memref<?x?xf32>
          scf.yield %v : f32
        } else {
          scf.yield %nothing : f32
        }
        memref.store %av, %left[%ty, %tx] : !tile
        %down = arith.addi %start, %ty : index
        %down_inside = arith.cmpi ult, %down, %k : index
        %b_inside = arith.andi %down_inside, %col_inside : i1
        %bv = scf.if %b_inside -> (f32) {
          %v = memref.load %b[%down, %j] : memref<?x?xf32>
          scf.yield %v : f32
        } else {
          scf.yield %nothing : f32
        }
        memref.store %bv, %right[%ty, %tx] : !tile
        gpu.barrier
        %more = scf.for %p = %c0 to %c16 step %c1 iter_args(%part = %sum) -> (f32) {
          %l = memref.load %left[%ty, %p] : !tile
          %r = memref.load %right[%p, %tx] : !tile
          %next = math.fma %l, %r, %part : f32
          scf.yield %next : f32
        }
        gpu.barrier
        scf.yield %more : f32
      }

      %inside = arith.andi %row_inside, %col_inside : i1
      scf.if %inside {
        memref.store %total, %c[%i, %j] : memref<?x?xf32>
      }
      gpu.return
    }
  }
}
