export { ApiError } from "../../schema/errors/ApiError.ts"
export { followEvents, followLogs } from "./RunFollower.ts"
export { type ClientOptions, makeClient, SvcClient, type SvcClientShape } from "./SvcClient.ts"
