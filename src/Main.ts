#!/usr/bin/env node
import { commandFirst, isAgentCommand, isClientCommand } from "./cli/ClientCommandNames.ts"

const args = commandFirst(process.argv.slice(2))

void (isClientCommand(args)
  ? import("./ClientMain.ts")
  : isAgentCommand(args)
    ? import("./AgentMain.ts")
    : import("./ServiceMain.ts"))
