#!/usr/bin/env node
import { isClientCommand } from "./cli/ClientCommandNames.ts"

void (isClientCommand(process.argv.slice(2)) ? import("./ClientMain.ts") : import("./ServiceMain.ts"))
