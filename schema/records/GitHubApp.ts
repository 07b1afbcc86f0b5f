import { Schema } from "effect"

/** The settings of a new GitHub App, in the format of GitHub's registration form. */
export const GitHubAppManifest = Schema.Struct({
  name: Schema.String,
  url: Schema.String,
  redirect_url: Schema.String,
  public: Schema.Boolean,
  default_permissions: Schema.Record(Schema.String, Schema.Literals(["read", "write"])),
  default_events: Schema.Array(Schema.String)
})
export type GitHubAppManifest = typeof GitHubAppManifest.Type

/** The name of an organization on GitHub. */
export const GitHubOrganization = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, { description: "the name of an organization on GitHub" })
)

/** The form that a browser sends to GitHub to create an App. */
export const GitHubAppForm = Schema.Struct({
  /** The address to which the browser sends the form. The address contains the state parameter of this registration. */
  formAction: Schema.String,
  /** The value of the field `manifest`, which the browser sends as JSON. */
  manifest: GitHubAppManifest
})
export type GitHubAppForm = typeof GitHubAppForm.Type
