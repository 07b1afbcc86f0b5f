export {
  type CommandContext,
  type IdempotentRequest,
  type Replayable,
  serviceContext
} from "../schema/protocol/Command.ts"
