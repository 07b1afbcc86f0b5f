import { isObject, type JsonObject } from "../http-kit/description/DocumentSchemas.ts"
import { answerExamples } from "./AnswerExamples.ts"

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
export const withExamples = (document: JsonObject): JsonObject => ({
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
