/** Providers that need no Connection, because they contact no service outside the Run. */
export const credentialFreeProviders: ReadonlySet<string> = new Set([
  "hashicorp/archive",
  "hashicorp/cloudinit",
  "hashicorp/external",
  "hashicorp/http",
  "hashicorp/local",
  "hashicorp/null",
  "hashicorp/random",
  "hashicorp/time",
  "hashicorp/tls"
])
