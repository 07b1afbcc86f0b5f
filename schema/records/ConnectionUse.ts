import { Schema } from "effect"
import { GivenGitRef } from "../git/GitRef.ts"
import { CredentialOrigin, GivenCredentialOrigin } from "./CredentialOrigin.ts"
import { ProjectId } from "./Ids.ts"
import { RelativePath } from "./Primitives.ts"
import { Role } from "./Workspace.ts"

/** Excludes viewers, who cannot start anything. */
export const UseRole = Schema.Literals(["owner", "admin", "member"])
export type UseRole = typeof UseRole.Type

/** A module, identified by the repository's URL and the path in the repository. */
export class UsedModule extends Schema.Opaque<UsedModule>()(
  Schema.Struct({ origin: CredentialOrigin, path: RelativePath })
) {}

const listOf = <S extends Schema.Top>(item: S) =>
  Schema.Array(item).check(Schema.isMinLength(1), Schema.isMaxLength(64))

/**
 * The permitted uses of a Connection, and the roles that may use it. Naming a role includes all higher roles. An absent
 * field does not restrict use, except that `refs` defaults to the adopted lane and the Source's default.
 */
const fields = {
  roles: Schema.Array(UseRole).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
  projectIds: Schema.optionalKey(listOf(ProjectId)),
  modules: Schema.optionalKey(listOf(UsedModule)),
  refs: Schema.optionalKey(listOf(Schema.String))
}
export class ConnectionUse extends Schema.Opaque<ConnectionUse>()(
  Schema.Struct(fields).annotate({ identifier: "ConnectionUse" })
) {}

/** A use rule as a person enters it. Origins and refs are normalised. */
export const GivenConnectionUse = Schema.Struct({
  ...fields,
  refs: Schema.optionalKey(listOf(GivenGitRef)),
  modules: Schema.optionalKey(listOf(Schema.Struct({ origin: GivenCredentialOrigin, path: RelativePath })))
}).annotate({ identifier: "GivenConnectionUse" })

/** By default, only owners and admins may use a Connection. They may also change the rule. */
export const defaultConnectionUse: ConnectionUse = { roles: ["owner", "admin"] }

/** The rule that allowed a Run to use a Connection, and the person whose authority the Run used. Shown to reviewers. */
export class GrantedUse extends Schema.Opaque<GrantedUse>()(
  Schema.Struct({
    connectionName: Schema.String,
    /** Version of the Connection's values, starting at 1. */
    connectionVersion: Schema.Int,
    rule: ConnectionUse,
    role: Role,
    ref: Schema.optionalKey(Schema.String),
    /** `other_ref`: the rule does not allow the ref, but an owner or admin started the Run. */
    basis: Schema.Literals(["rule", "other_ref"]),
    /** True if no person started the Run, so that the Run uses the authority of the person who enabled the automation. */
    automatic: Schema.Boolean
  }).annotate({ identifier: "GrantedUse" })
) {}
