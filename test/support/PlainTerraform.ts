/** Terraform itself: a whole test run starts it by a script, which no sandbox shows to other scripts. */
export const plainTerraform =
  Bun.which("terraform", { PATH: process.env["SVC_TEST_PATH"] ?? process.env["PATH"] ?? "" }) ??
  "/usr/local/bin/terraform"
