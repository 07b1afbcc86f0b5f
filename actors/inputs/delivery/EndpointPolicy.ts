import { Array as Arr, Context, Result, Schema } from "effect"
import { CallbackPath } from "../../../schema/manifest/RequirementDeclaration.ts"
import { type DeliveryRefused, refused } from "./DeliveryRefused.ts"

/** Returns true for an https URL in canonical form, without credentials, query or fragment. An origin has no trailing slash. */
const isEndpointUrl = (text: string): boolean => {
  const url = URL.parse(text)
  if (url === null || url.protocol !== "https:" || url.username !== "" || url.password !== "") return false
  if (/[?#\\]/.test(text)) return false
  return text === url.origin || (text === url.href && url.pathname !== "/")
}

const plainText = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(253),
  Schema.isPattern(/^[!-~]+$/, { description: "visible ASCII without spaces" })
)

/**
 * Assigns an endpoint to one Capsule. All names are explicit, because svc neither invents hostnames nor expands templates.
 * - `workspace`: handle; `project`: slug, needed if two Projects have a Capsule with the same name and environment
 * - `url`: canonical https URL, such as `https://app.example.com`
 * - `subdomain`, `routePattern`: passed unchanged to modules that request them
 * - `postLogoutPaths`: additional paths that people may return to after signing out of the Capsule's application
 */
export const EndpointAssignment = Schema.Struct({
  workspace: Schema.String,
  project: Schema.optionalKey(Schema.String),
  capsule: Schema.String,
  environment: Schema.String,
  url: Schema.String.check(
    Schema.isMaxLength(2048),
    Schema.makeFilter(isEndpointUrl, {
      description: "a canonical https URL such as https://app.example.com, without credentials, query or fragment"
    })
  ),
  subdomain: Schema.optionalKey(plainText),
  routePattern: Schema.optionalKey(plainText),
  postLogoutPaths: Schema.optionalKey(Schema.Array(CallbackPath).check(Schema.isMaxLength(8)))
})
export type EndpointAssignment = typeof EndpointAssignment.Type

/**
 * Endpoints that the operator assigns. If there are none (the default), modules that need an endpoint cannot be planned.
 * They are read each time they are used, because a reload can change them.
 */
export const EndpointPolicy = Context.Reference<{ readonly endpoints: ReadonlyArray<EndpointAssignment> }>(
  "svc/actors/inputs/delivery/EndpointPolicy",
  { defaultValue: () => ({ endpoints: [] }) }
)

/**
 * The identity of a Capsule in assignments. `homonyms`: existing Capsules with the same name and environment in other Projects.
 */
export interface EndpointOwner {
  readonly workspace: string
  readonly project: string
  readonly capsule: string
  readonly environment: string
  readonly homonyms: number
}

/** Returns the Capsule's assignment. Fails if there is none, or if the policy is ambiguous. */
export const assignedEndpoint = (
  endpoints: ReadonlyArray<EndpointAssignment>,
  owner: EndpointOwner
): Result.Result<EndpointAssignment, DeliveryRefused> => {
  const matches = endpoints.filter(
    (entry) =>
      entry.workspace === owner.workspace &&
      entry.capsule === owner.capsule &&
      entry.environment === owner.environment &&
      (entry.project === undefined || entry.project === owner.project)
  )
  if (!Arr.isReadonlyArrayNonEmpty(matches)) {
    return Result.fail(
      refused(
        "endpoint_not_available",
        "The module needs an HTTP endpoint, and the operator has assigned none to this Capsule. Ask the operator to assign one to its Workspace, name and environment, then plan again."
      )
    )
  }
  const [only, ...others] = matches
  if (others.length > 0 || (only.project === undefined && owner.homonyms > 0)) {
    return Result.fail(
      refused(
        "endpoint_ambiguous",
        "The operator's endpoint assignments fit this Capsule in more than one way. The assignment has to name the Project."
      )
    )
  }
  return Result.succeed(only)
}
