/**
 * Returns the path of Terraform itself. In a full test run, `terraform` in PATH is a script that other scripts cannot see in
 * a sandbox.
 */
export const plainTerraform =
  Bun.which("terraform", { PATH: process.env["SVC_TEST_PATH"] ?? process.env["PATH"] ?? "" }) ??
  "/usr/local/bin/terraform"
