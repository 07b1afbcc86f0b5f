/**
 * Returns the path of Terraform itself. A full test run starts Terraform through a script, which sandboxes hide from other
 * scripts.
 */
export const plainTerraform =
  Bun.which("terraform", { PATH: process.env["SVC_TEST_PATH"] ?? process.env["PATH"] ?? "" }) ??
  "/usr/local/bin/terraform"
