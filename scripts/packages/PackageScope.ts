/** Under which the packages are named until their owner has secured a scope. */
export const packageScope = "@svc-dev"
