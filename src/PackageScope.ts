/** Provisional scope of the npm packages, until a scope is registered. */
export const packageScope = "@svc-dev"
