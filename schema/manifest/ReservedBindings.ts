const reservedNames = new Set(
  "PATH HOME SHELL USER LOGNAME PWD OLDPWD TMPDIR TEMP TMP HOSTNAME IFS ENV BASH_ENV CDPATH PYTHONPATH PERL5LIB RUBYOPT".split(
    " "
  )
)

const reservedPrefixes = ["SVC_", "TF_", "TOFU_", "OPENTOFU_", "LD_", "DYLD_", "GIT_", "SSH_", "BUN_", "NODE_", "NPM_"]

/** Names with a meaning to the host, the toolchain or a process loader; no repository may claim them. */
export const isReservedBinding = (name: string): boolean => {
  const upper = name.toUpperCase()
  return (
    reservedNames.has(upper) || upper.endsWith("_PROXY") || reservedPrefixes.some((prefix) => upper.startsWith(prefix))
  )
}
