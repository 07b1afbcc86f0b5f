/** The scope of the npm packages until their owner has secured one. */
export const packageScope = "@svc-dev"
