const wellFormed = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

/** Maximum size of a credential file in bytes. */
export const longestCredentialFile = 1024 * 1024

/**
 * Returns the reason why a name cannot be used for a credential file, or `undefined`. The name must be a single path segment
 * and must not start with a dot.
 */
export const credentialFileNameProblem = (name: string): string | undefined =>
  wellFormed.test(name)
    ? undefined
    : "must be a plain file name of letters, digits, dots, dashes and underscores that starts with a letter or digit, at most 128 characters"
