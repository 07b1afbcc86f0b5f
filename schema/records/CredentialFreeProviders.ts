/** Providers that contact no service outside the run, so they need no Connection. */
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
