/** Replaced by the build of a binary. */
declare const SVC_BUILT_FROM: string | undefined

const given = typeof SVC_BUILT_FROM === "string" ? SVC_BUILT_FROM : ""

/** The commit that a binary was built from; absent in a checkout, and in a build without Git or with changes. */
export const builtFrom: string | undefined = given === "" ? undefined : given
