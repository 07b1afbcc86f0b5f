import { Context } from "effect"
import type { MailLanguage } from "./MailTexts.ts"

/** The server's description in its mails. */
export interface MailOrigin {
  /** Where links lead, without a slash at the end. */
  readonly baseUrl: string
  /** The server's name for people. */
  readonly name: string
  readonly language: MailLanguage
}

/** `undefined` where no mail server is set: then nothing is queued, and people pass links on themselves. */
export const MailSettings = Context.Reference<{ readonly origin: MailOrigin | undefined }>("svc/mail/MailSettings", {
  defaultValue: () => ({ origin: undefined })
})
