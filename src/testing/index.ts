/** For tests of programs that embed the control plane: see docs/embedding.md. */
export {
  layer,
  type TestAccount,
  TestControlPlane,
  type TestOptions,
  type TestRepository
} from "./TestControlPlane.ts"
