import { Clock, Duration, Effect } from "effect"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { retention } from "../../schema/records/Retention.ts"
import type { Principal } from "./Principal.ts"

const lifetime = Duration.toMillis(retention.confirmation.after)

/** Whether the person of the session showed recently enough who they are. */
export const isConfirmed = ({ confirmedAt }: Principal): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (millis) => confirmedAt !== undefined && millis - confirmedAt < lifetime)

/** One answer wherever a sensitive action needs the person, so that a client can ask for them in one place. */
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
