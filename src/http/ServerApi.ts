import { HttpApi, OpenApi } from "effect/http-api"
import { withDocumentParts } from "../http-kit/description/DocumentParts.ts"
import { RunLogFrame } from "../../schema/events/RunFrame.ts"
import { RunEventFrame, RunEventMessage, RunLogMessage } from "../../schema/events/RunMessage.ts"
import { SvcApi } from "../../schema/api/SvcApi.ts"
import { apiVersion } from "../../schema/records/Discovery.ts"
import { ConfirmationsApi } from "../accounts/declarations/ConfirmationsApi.ts"
import { SignedOutPagesApi } from "../accounts/declarations/SignedOutPagesApi.ts"
import { InvitedSignUpApi } from "../accounts/declarations/InvitedSignUpApi.ts"
import { PasskeysApi } from "../accounts/declarations/PasskeysApi.ts"
import { ProfileApi } from "../accounts/declarations/ProfileApi.ts"
import { SecondFactorApi } from "../accounts/declarations/SecondFactorApi.ts"
import { SignInApi } from "../accounts/declarations/SignInApi.ts"
import { UpstreamApi, UpstreamPagesApi } from "../accounts/declarations/UpstreamApi.ts"
import { GrantsApi } from "../accounts/oidc/GrantsApi.ts"
import { IssuerApi, IssuerPagesApi } from "../accounts/oidc/IssuerApi.ts"
import { isObject, type JsonObject } from "../http-kit/description/DocumentSchemas.ts"
import { answerExamples } from "./AnswerExamples.ts"
import { AgentApi } from "./agent/AgentApi.ts"
import { DocumentsApi } from "./DocumentsApi.ts"
import { HandoffApi, InstallLinkApi } from "./handoff/HandoffApi.ts"
import { HealthApi } from "./HealthApi.ts"
import { OperatorApi } from "./OperatorApi.ts"
import { noticeSchemas, withWebhooks } from "./description/Webhooks.ts"
import { SourceHooksApi } from "./SourceHooksApi.ts"

const mapped = (value: unknown, change: (inner: JsonObject, key: string) => JsonObject): unknown =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, isObject(inner) ? change(inner, key) : inner])
      )
    : value

const withExample = (response: JsonObject, example: string): JsonObject => ({
  ...response,
  content: mapped(response["content"], (media, type) =>
    type === "application/json" ? { ...media, example: JSON.parse(example) } : media
  )
})

/** Adds to each response an example that was recorded from a real server. */
const withExamples = (document: JsonObject): JsonObject => ({
  ...document,
  paths: mapped(document["paths"], (path) =>
    Object.fromEntries(
      Object.entries(path).map(([method, operation]) => [
        method,
        isObject(operation)
          ? {
              ...operation,
              responses: mapped(operation["responses"], (response, status) => {
                const example = answerExamples[`${String(operation["operationId"])} ${status}`]
                return example === undefined ? response : withExample(response, example)
              })
            }
          : operation
      ])
    )
  )
})

/**
 * Every route of the server. Routes outside the API are declared here only for their descriptions and schemas; separate code
 * reads the requests and responds.
 */
export class ServerApi extends HttpApi.make("server")
  .add(
    SignInApi,
    ConfirmationsApi,
    PasskeysApi,
    SecondFactorApi,
    ProfileApi,
    InvitedSignUpApi,
    UpstreamApi,
    UpstreamPagesApi,
    SignedOutPagesApi,
    GrantsApi,
    IssuerApi,
    IssuerPagesApi,
    InstallLinkApi,
    HandoffApi,
    SourceHooksApi,
    HealthApi,
    DocumentsApi,
    OperatorApi,
    AgentApi
  )
  .addHttpApi(SvcApi)
  .annotate(HttpApi.AdditionalSchemas, [RunEventFrame, RunEventMessage, RunLogFrame, RunLogMessage, ...noticeSchemas])
  .annotateMerge(
    OpenApi.annotations({
      title: "svc",
      version: apiVersion,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      description:
        "Git-driven control plane for plain OpenTofu/Terraform modules. Errors are `{error: {code, message, requestId}}`; every response carries `x-request-id`. Bodies are closed: unknown fields are refused. Order of checks: authenticate (401), authorise the Workspace (403), validate (400).",
      transform: (document) => withExamples(withDocumentParts(withWebhooks(document)))
    })
  ) {}
