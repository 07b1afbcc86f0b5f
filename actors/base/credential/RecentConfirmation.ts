import { Clock, Duration, Effect } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { retention } from "../../../schema/records/Retention.ts"
import type { Principal } from "./Principal.ts"

const lifetime = Duration.toMillis(retention.confirmation.after)

/** Whether the person behind the session has confirmed their identity recently enough. */
export const isConfirmed = ({ confirmedAt }: Principal): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (millis) => confirmedAt !== undefined && millis - confirmedAt < lifetime)

/** The same response wherever a sensitive action needs confirmation, so that clients can handle it in one place. */
export const requireConfirmed = (principal: Principal): Effect.Effect<void, ApiError> =>
  Effect.flatMap(isConfirmed(principal), (confirmed) =>
    confirmed
      ? Effect.void
      : new ApiError({
          code: "reauthentication_required",
          message:
            "Confirm first that it is you, by password, passkey or single sign-on (`/auth/confirmation`), and repeat the request within five minutes."
        })
  )
