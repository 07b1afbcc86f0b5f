/** Helpers for tests of programs that embed the control plane. See docs/embedding.md. */
export {
  layer,
  type TestAccount,
  TestControlPlane,
  type TestOptions,
  type TestRepository
} from "./TestControlPlane.ts"
