import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { AccountNotice } from "../../../actors/access/account/AccountNotices.ts"
import { accepted } from "../../../schema/api/AnswerStatus.ts"
import { describedGroup, describedRoute } from "../../http-kit/description/RouteDescription.ts"
import { Envelope } from "../../../schema/api/Middleware.ts"
import { AddressLinkState } from "../../../schema/records/AccountLink.ts"
import { displayText, Timestamp } from "../../../schema/records/Primitives.ts"
import { confirmedPerson, person } from "../../http-kit/RouteAccess.ts"
import { LinkRequest } from "./SignInApi.ts"

export const NameRequest = Schema.Struct({ displayName: Schema.NullOr(displayText(80)) })
export const AddressRequest = Schema.Struct({ email: Schema.String })
export const SeenRequest = Schema.Struct({ noticeId: Schema.String })

export const NoticeList = Schema.Struct({ notices: Schema.Array(AccountNotice) })
export const AddressChange = Schema.Struct({ change: AddressLinkState })
export const AddressMailed = Schema.Struct({ expiresAt: Timestamp })

/** Routes for changes to a person's own account, except its sign-in methods. */
export class ProfileApi extends describedGroup("profile", "The account of a person.")
  .add(
    HttpApiEndpoint.post("rename", "/auth/profile", {
      payload: NameRequest,
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(person, "Change the display name", "`null` removes it.")),
    HttpApiEndpoint.post("mailAddressLink", "/auth/address/link", {
      payload: AddressRequest,
      success: AddressMailed.pipe(accepted)
    }).annotateMerge(
      describedRoute(
        confirmedPerson,
        "Begin to change the address",
        "Mails a link to the new address. The answer is the same whether or not another account has it."
      )
    ),
    HttpApiEndpoint.post("inspectAddress", "/auth/address/inspect", {
      payload: LinkRequest,
      success: AddressChange
    }).annotateMerge(
      describedRoute(person, "Inspect a link to another address", "The change that it makes. Does not use up the link.")
    ),
    HttpApiEndpoint.post("changeAddress", "/auth/address", {
      payload: LinkRequest,
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(confirmedPerson, "Change the address", "With the secret of the mailed link.")),
    HttpApiEndpoint.get("notices", "/auth/notices", { success: NoticeList }).annotateMerge(
      describedRoute(person, "Notices about the account", "Changes of the ways to sign in that were not seen yet.")
    ),
    HttpApiEndpoint.post("seeNotices", "/auth/notices/seen", {
      payload: SeenRequest,
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(person, "Mark notices as seen", "The named one and all before it.")),
    HttpApiEndpoint.post("revokeOthers", "/auth/sessions/revoke-others", {
      success: HttpApiSchema.NoContent
    }).annotateMerge(describedRoute(person, "End every other session", "This session stays."))
  )
  .middleware(Envelope) {}
