import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { confirmedPerson, person } from "../../http-kit/RouteAccess.ts"
import { SecretText } from "../AuthBody.ts"

export const CodeRequest = Schema.Struct({ code: SecretText })
export const SecondFactor = Schema.Struct({ active: Schema.Boolean, recoveryCodes: Schema.Int })
export const SecondFactorSecret = Schema.Struct({ secret: Schema.String, uri: Schema.String })
export const RecoveryCodes = Schema.Struct({ recoveryCodes: Schema.Array(Schema.String) })

/** The second factor for password sign-in. */
export class SecondFactorApi extends describedGroup("secondFactor", "The second factor of sign-in with a password.")
  .add(
    HttpApiEndpoint.get("read", "/auth/second-factor", { success: SecondFactor }).annotateMerge(
      describedRoute(person, "Read the state of the second factor", "With the number of remaining recovery codes.")
    ),
    HttpApiEndpoint.post("begin", "/auth/second-factor", { success: SecondFactorSecret }).annotateMerge(
      describedRoute(
        confirmedPerson,
        "Begin to turn on a second factor",
        "What an authenticator takes, by hand or as an address. Nothing changes until a code is sent to `activate`."
      )
    ),
    HttpApiEndpoint.delete("remove", "/auth/second-factor", { success: HttpApiSchema.NoContent }).annotateMerge(
      describedRoute(confirmedPerson, "Turn the second factor off", "Its recovery codes end with it.")
    ),
    HttpApiEndpoint.post("activate", "/auth/second-factor/activate", {
      payload: CodeRequest,
      success: RecoveryCodes
    }).annotateMerge(
      describedRoute(confirmedPerson, "Turn the second factor on", "The recovery codes are shown once.")
    ),
    HttpApiEndpoint.post("renewCodes", "/auth/second-factor/recovery-codes", { success: RecoveryCodes }).annotateMerge(
      describedRoute(confirmedPerson, "Make new recovery codes", "The earlier ones end. Shown once.")
    )
  )
  .middleware(Envelope) {}
