const wellFormed = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/**
 * Variables that a Connection may not set, because they affect the tool, the loader, an interpreter or the network access of
 * every program, rather than a single provider.
 */
const deniedNames = new Set([
  "ALL_PROXY",
  "BASHOPTS",
  "BASH_ENV",
  "CDPATH",
  "CHECKPOINT_DISABLE",
  "CLASSPATH",
  "CURL_CA_BUNDLE",
  "ENV",
  "GCONV_PATH",
  "GETCONF_DIR",
  "GLIBC_TUNABLES",
  "GLOBIGNORE",
  "GODEBUG",
  "GOMAXPROCS",
  "GOTRACEBACK",
  "HOME",
  "HOSTALIASES",
  "IFS",
  "JDK_JAVA_OPTIONS",
  "LANG",
  "LANGUAGE",
  "LOCALDOMAIN",
  "LOCPATH",
  "LOGNAME",
  "NLSPATH",
  "OLDPWD",
  "OPENSSL_CONF",
  "OPENSSL_MODULES",
  "PATH",
  "PROMPT_COMMAND",
  "PS4",
  "PWD",
  "REQUESTS_CA_BUNDLE",
  "RESOLV_HOST_CONF",
  "RES_OPTIONS",
  "SHELL",
  "SHELLOPTS",
  "SHLVL",
  "SSLKEYLOGFILE",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
  "SSH_ASKPASS",
  "SSH_AUTH_SOCK",
  "TERM",
  "TMP",
  "TMPDIR",
  "TEMP",
  "TZDIR",
  "USER",
  "_JAVA_OPTIONS",
  "JAVA_TOOL_OPTIONS"
])

const deniedPrefixes = [
  "BUN_",
  "DENO_",
  "DYLD_",
  "GIT_",
  "LC_",
  "LD_",
  "MALLOC_",
  "NODE_",
  "NPM_CONFIG_",
  "OTEL_",
  "PERL5",
  "PLUGIN_",
  "PYTHON",
  "RUBY",
  "SVC_",
  "TF_",
  "TOFU_",
  "XDG_"
]

/** The variables of the tool itself that a Connection may set: module inputs, and tokens for private registries. */
const allowedToolPrefixes = ["TF_VAR_", "TF_TOKEN_"]

/**
 * Returns the reason why a Connection cannot set an environment variable, or `undefined`. Ignores case, because some programs
 * read both spellings.
 */
export const environmentNameProblem = (name: string): string | undefined => {
  if (!wellFormed.test(name)) {
    return "must start with a letter or underscore and hold only letters, digits and underscores, at most 128 characters"
  }
  const upper = name.toUpperCase()
  if (allowedToolPrefixes.some((prefix) => name.startsWith(prefix) && name.length > prefix.length)) return undefined
  const prefix = deniedPrefixes.find((candidate) => upper.startsWith(candidate))
  if (prefix !== undefined) return `names that start with ${prefix} are reserved for the runner`
  if (deniedNames.has(upper) || upper.endsWith("_PROXY")) return `${upper} is reserved for the runner`
  return undefined
}

/** Like `environmentNameProblem`, but also refuses names of module inputs, because their values would end up in the plan file. */
export const providedNameProblem = (name: string): string | undefined =>
  name.startsWith("TF_VAR_")
    ? "is an input of the module, which the plan file would carry to the control plane"
    : environmentNameProblem(name)
