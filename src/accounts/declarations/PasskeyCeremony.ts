import { Schema } from "effect"
import { displayText } from "../../../schema/records/Primitives.ts"
import { BrowserAnswer } from "../PasskeyAnswer.ts"

/** Input to `navigator.credentials`, in WebAuthn's JSON form. */
export const PasskeyOptions = Schema.Struct({ options: Schema.Record(Schema.String, Schema.Json) })

export const AssertionRequest = Schema.Struct({ response: BrowserAnswer })
export const RegistrationRequest = Schema.Struct({ name: displayText(80), response: BrowserAnswer })
