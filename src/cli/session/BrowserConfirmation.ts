import { Console, Effect } from "effect"
import { Flag, TerminalCapabilities } from "effect/cli"
import {
  type ActionConfirmationStatus,
  type ConfirmableAction,
  confirmationHeader
} from "../../../schema/records/ActionConfirmation.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { exitCodes } from "../ExitCodes.ts"
import { CommandFailed } from "../Output.ts"
import { openBrowser } from "../remote/Browser.ts"
import { patiently } from "../remote/Patience.ts"
import { asPerson, sessionFlags } from "./PersonSession.ts"

/** Flags of an action that a person confirms in the browser, or with a password from standard input. */
export const confirmationFlags = {
  ...sessionFlags,
  browser: Flag.Boolean("browser").pipe(
    Flag.withDescription("Open the confirmation page in your browser; --no-browser only prints its address"),
    Flag.withDefault(true)
  )
}

export interface Confirming {
  readonly passwordStdin: boolean
  readonly browser: boolean
  readonly json: boolean
}

export interface ActionToConfirm {
  readonly workspaceId: WorkspaceId
  readonly action: ConfirmableAction
  readonly targetId: string
}

const refusals: Readonly<Partial<Record<ActionConfirmationStatus, string>>> = {
  denied: "The action was denied in the browser. Nothing was changed.",
  expired: "Nobody confirmed the action in time. Nothing was changed: run the command again.",
  used: "The confirmation was used already. Run the command again."
}

/** Waits until the person has decided. */
const approved = Effect.fnUntraced(function* (workspaceId: WorkspaceId, code: string, first: number) {
  const { actionConfirmations } = yield* SvcClient
  let interval = first
  while (true) {
    yield* Effect.sleep(`${interval} seconds`)
    const { confirmation } = yield* patiently(actionConfirmations.poll({ payload: { workspaceId, code } }))
    if (confirmation.status === "approved") return
    const message = refusals[confirmation.status]
    if (message !== undefined) {
      return yield* new CommandFailed({ code: "permission_denied", exitCode: exitCodes.forbidden, message })
    }
    interval = confirmation.interval
  }
})

type ConfirmationHeaders = { readonly [confirmationHeader]?: string }

/**
 * Makes a request that requires a confirmation. The person confirms the action in their browser with one of their sign-in
 * methods, and the request contains the code that results. If `--password-stdin` is set, the request is sent in a separate
 * session instead.
 */
export const withConfirmation =
  (given: Confirming, asked: ActionToConfirm) =>
  <A, E, R>(use: (headers: ConfirmationHeaders) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      if (given.passwordStdin) return yield* asPerson(given)(use({}))
      const { actionConfirmations } = yield* SvcClient
      const { confirmation } = yield* actionConfirmations.begin({ payload: asked })
      const { code, expiresAt, interval, userCode, verificationUriComplete: address } = confirmation
      // Prompt on standard error, because scripts read the result from standard output.
      yield* Console.error(
        given.json
          ? JSON.stringify({ address, code: userCode, expiresAt })
          : `Confirm this in your browser: open ${address}\nand check that it shows the code ${userCode}. Waiting for 10 minutes ...`
      )
      const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
      if (given.browser && canPrompt && !given.json) yield* openBrowser(address)
      yield* approved(asked.workspaceId, code, interval)
      return yield* use({ [confirmationHeader]: code })
    })
