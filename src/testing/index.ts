/** What tests of a host need: a whole control plane in a folder of its own. */
export { type TestAccount, TestPlane, type TestSettings } from "./TestPlane.ts"
