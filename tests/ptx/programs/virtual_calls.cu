//! launch grid=1 block=96 words=96
//! expect i % 3 == 0 ? i * i : i % 3 == 1 ? 4 * i : 1000 - i
// Three classes behind one pointer; lanes of one warp call different functions.
struct Shape {
  unsigned side;
  __device__ explicit Shape(unsigned s) : side(s) {}
  __device__ virtual unsigned measure() const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  using Shape::Shape;
  __device__ unsigned measure() const override { return side * side; }
};
struct Outline : Shape {
  using Shape::Shape;
  __device__ unsigned measure() const override { return 4 * side; }
};
struct Rest final : Shape {
  using Shape::Shape;
  __device__ unsigned measure() const override { return 1000 - side; }
};
__device__ __noinline__ unsigned ask(const Shape* shape) { return shape->measure(); }
extern "C" __global__ void test(unsigned* out) {
  const unsigned i = threadIdx.x;
  Shape* shape = nullptr;
  if (i % 3 == 0) shape = new Square(i);
  if (i % 3 == 1) shape = new Outline(i);
  if (i % 3 == 2) shape = new Rest(i);
  out[i] = ask(shape);
  delete shape;
}
