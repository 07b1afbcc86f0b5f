import { extensions } from "../../schema/api/Extensions.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"

/** Returns the refusals for routes in families that the operator has disabled, keyed by method and path. */
export const disabledFamilies = (familiesOff: ReadonlyArray<string>): ReadonlyMap<string, ApiError> =>
  new Map(
    extensions
      .filter(({ name }) => familiesOff.includes(name))
      .flatMap(({ endpoints, name }) => {
        const refusal = new ApiError({
          code: "capability_not_available",
          message: `The operator of this server has turned ${name} off. GET /api/v1/extensions lists what is on.`
        })
        return endpoints.map((endpoint) => [endpoint, refusal] as const)
      })
  )
