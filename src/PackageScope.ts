/** Under which the packages for npm are named until their owner has secured a scope. */
export const packageScope = "@svc-dev"
