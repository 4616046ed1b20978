// Softmax over rows, a warp a row: the lanes' results meet by exchanges at distance 16, 8, 4, 2, 1.
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @softmax_forward(%x: memref<?x?xf32>, %y: memref<?x?xf32>) kernel {
      %one = arith.constant 1 : index
      %lowest = arith.constant 0xFF800000 : f32
      %nothing = arith.constant 0.0 : f32
      %width = arith.constant 32 : i32
      %done = arith.constant 0 : i32
      %bit = arith.constant 1 : i32
      %far = arith.constant 16 : i32
      %row = gpu.block_id x
      %lane = gpu.thread_id x
      %lanes = gpu.block_dim x
      %cols = memref.dim %x, %one : memref<?x?xf32>

      %own_largest = scf.for %c = %lane to %cols step %lanes iter_args(%most = %lowest) -> (f32) {
        %v = memref.load %x[%row, %c] : memref<?x?xf32>
        %more = arith.maxnumf %most, %v : f32
        scf.yield %more : f32
      }
      %largest, %d0 = scf.while (%most = %own_largest, %d = %far) : (f32, i32) -> (f32, i32) {
        %on = arith.cmpi ugt, %d, %done : i32
        scf.condition(%on) %most, %d : f32, i32
      } do {
      ^bb0(%most: f32, %d: i32):
        %other, %valid = gpu.shuffle xor %most, %d, %width : f32
        %more = arith.maxnumf %most, %other : f32
        %near = arith.shrui %d, %bit : i32
        scf.yield %more, %near : f32, i32
      }

      %own_sum = scf.for %c = %lane to %cols step %lanes iter_args(%sum = %nothing) -> (f32) {
        %v = memref.load %x[%row, %c] : memref<?x?xf32>
        %shifted = arith.subf %v, %largest : f32
        %power = math.exp %shifted : f32
        memref.store %power, %y[%row, %c] : memref<?x?xf32>
        %more = arith.addf %sum, %power : f32
        scf.yield %more : f32
      }
      %sum, %d1 = scf.while (%part = %own_sum, %d = %far) : (f32, i32) -> (f32, i32) {
        %on = arith.cmpi ugt, %d, %done : i32
        scf.condition(%on) %part, %d : f32, i32
      } do {
      ^bb0(%part: f32, %d: i32):
        %other, %valid = gpu.shuffle xor %part, %d, %width : f32
        %more = arith.addf %part, %other : f32
        %near = arith.shrui %d, %bit : i32
        scf.yield %more, %near : f32, i32
      }

      scf.for %c = %lane to %cols step %lanes {
        %power = memref.load %y[%row, %c] : memref<?x?xf32>
        %share = arith.divf %power, %sum : f32
        memref.store %share, %y[%row, %c] : memref<?x?xf32>
      }
      gpu.return
    }
  }
}
