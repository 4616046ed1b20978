// Softmax over rows, a block a row; x may lie with any strides.
!in = memref<?x?xf32, strided<[?, ?], offset: ?>>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @softmax_forward(%x: !in, %y: memref<?x?xf32>) kernel {
      %one = arith.constant 1 : index
      %lowest = arith.constant 0xFF800000 : f32
      %nothing = arith.constant 0.0 : f32
      %row = gpu.block_id x
      %thread = gpu.thread_id x
      %threads = gpu.block_dim x
      %cols = memref.dim %x, %one : !in

      %own_largest = scf.for %c = %thread to %cols step %threads iter_args(%most = %lowest) -> (f32) {
        %v = memref.load %x[%row, %c] : !in
        %more = arith.maxnumf %most, %v : f32
        scf.yield %more : f32
      }
      %largest = gpu.all_reduce maxnumf %own_largest uniform {} : (f32) -> (f32)

      %own_sum = scf.for %c = %thread to %cols step %threads iter_args(%sum = %nothing) -> (f32) {
        %v = memref.load %x[%row, %c] : !in
        %shifted = arith.subf %v, %largest : f32
        %power = math.exp %shifted : f32
        memref.store %power, %y[%row, %c] : memref<?x?xf32>
        %more = arith.addf %sum, %power : f32
        scf.yield %more : f32
      }
      %sum = gpu.all_reduce add %own_sum uniform {} : (f32) -> (f32)

      scf.for %c = %thread to %cols step %threads {
        %power = memref.load %y[%row, %c] : memref<?x?xf32>
        %share = arith.divf %power, %sum : f32
        memref.store %share, %y[%row, %c] : memref<?x?xf32>
      }
      gpu.return
    }
  }
}
