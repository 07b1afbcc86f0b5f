export {
  type CommandContext,
  type IdempotentRequest,
  type Replayable,
  serviceContext
} from "../schema/commands/Command.ts"
