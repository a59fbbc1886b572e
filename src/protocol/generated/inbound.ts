// Generated from the protocol tables by scripts/generate.mjs. Do not edit.
import type { Definitions, Schema } from '../check.ts';
import type { CommandName, FrameName } from './vocabulary.ts';

export const commandParams: Readonly<Record<CommandName, Schema>> = {
 "prompt": {
  "type": "object",
  "required": [
   "message"
  ],
  "properties": {
   "message": {
    "type": "string"
   },
   "images": {
    "type": "array",
    "items": {
     "$ref": "#/$defs/ImageInput"
    }
   },
   "streamingBehavior": {
    "type": "string",
    "enum": [
     "steer",
     "followUp"
    ]
   },
   "clientMessageId": {
    "type": "string",
    "minLength": 1
   },
   "limits": {
    "$ref": "#/$defs/Limits"
   },
   "builtins": {
    "type": "boolean"
   },
   "approvalLimit": {
    "$ref": "#/$defs/ApprovalMode"
   }
  }
 },
 "steer": {
  "type": "object",
  "required": [
   "message"
  ],
  "properties": {
   "message": {
    "type": "string"
   },
   "images": {
    "type": "array",
    "items": {
     "$ref": "#/$defs/ImageInput"
    }
   },
   "clientMessageId": {
    "type": "string",
    "minLength": 1
   },
   "approvalLimit": {
    "$ref": "#/$defs/ApprovalMode"
   }
  }
 },
 "follow_up": {
  "type": "object",
  "required": [
   "message"
  ],
  "properties": {
   "message": {
    "type": "string"
   },
   "images": {
    "type": "array",
    "items": {
     "$ref": "#/$defs/ImageInput"
    }
   },
   "clientMessageId": {
    "type": "string",
    "minLength": 1
   },
   "approvalLimit": {
    "$ref": "#/$defs/ApprovalMode"
   }
  }
 },
 "abort_and_prompt": {
  "type": "object",
  "required": [
   "message"
  ],
  "properties": {
   "message": {
    "type": "string"
   },
   "images": {
    "type": "array",
    "items": {
     "$ref": "#/$defs/ImageInput"
    }
   },
   "clientMessageId": {
    "type": "string",
    "minLength": 1
   },
   "limits": {
    "$ref": "#/$defs/Limits"
   },
   "builtins": {
    "type": "boolean"
   },
   "approvalLimit": {
    "$ref": "#/$defs/ApprovalMode"
   }
  }
 },
 "set_steering_mode": {
  "type": "object",
  "required": [
   "mode"
  ],
  "properties": {
   "mode": {
    "$ref": "#/$defs/QueueMode"
   },
   "persist": {
    "type": "boolean"
   }
  }
 },
 "set_follow_up_mode": {
  "type": "object",
  "required": [
   "mode"
  ],
  "properties": {
   "mode": {
    "$ref": "#/$defs/QueueMode"
   },
   "persist": {
    "type": "boolean"
   }
  }
 },
 "clear_queue": {
  "type": "object",
  "properties": {}
 },
 "remove_queued": {
  "type": "object",
  "required": [
   "queueId"
  ],
  "properties": {
   "queueId": {
    "type": "string",
    "minLength": 1
   }
  }
 },
 "edit_queued": {
  "type": "object",
  "required": [
   "queueId",
   "message"
  ],
  "properties": {
   "queueId": {
    "type": "string",
    "minLength": 1
   },
   "message": {
    "type": "string"
   }
  }
 },
 "abort": {
  "type": "object",
  "properties": {
   "clearQueue": {
    "type": "boolean"
   }
  }
 },
 "wait_idle": {
  "type": "object",
  "properties": {}
 },
 "set_interrupt_mode": {
  "type": "object",
  "required": [
   "mode"
  ],
  "properties": {
   "mode": {
    "$ref": "#/$defs/InterruptMode"
   },
   "persist": {
    "type": "boolean"
   }
  }
 },
 "compact": {
  "type": "object",
  "properties": {
   "customInstructions": {
    "type": "string"
   }
  }
 },
 "set_auto_compaction": {
  "type": "object",
  "required": [
   "enabled"
  ],
  "properties": {
   "enabled": {
    "type": "boolean"
   },
   "persist": {
    "type": "boolean"
   }
  }
 },
 "set_auto_retry": {
  "type": "object",
  "required": [
   "enabled"
  ],
  "properties": {
   "enabled": {
    "type": "boolean"
   },
   "persist": {
    "type": "boolean"
   }
  }
 },
 "abort_retry": {
  "type": "object",
  "properties": {}
 },
 "hello": {
  "type": "object",
  "properties": {
   "client": {
    "type": "object",
    "required": [
     "name"
    ],
    "additionalProperties": false,
    "properties": {
     "name": {
      "type": "string"
     },
     "version": {
      "type": "string"
     }
    }
   },
   "stream": {
    "type": "string",
    "enum": [
     "cumulative",
     "delta"
    ]
   },
   "toolOutput": {
    "type": "string",
    "enum": [
     "cumulative",
     "delta",
     "both"
    ]
   },
   "legacyNames": {
    "type": "boolean"
   },
   "builtins": {
    "type": "boolean"
   },
   "entries": {
    "type": "boolean"
   },
   "entriesAfter": {
    "type": "string"
   },
   "ui": {
    "type": "array",
    "items": {
     "type": "string"
    }
   },
   "ids": {
    "type": "boolean"
   },
   "heartbeatMs": {
    "type": "integer",
    "minimum": 0
   }
  }
 },
 "ping": {
  "type": "object",
  "properties": {}
 },
 "new_session": {
  "type": "object",
  "properties": {
   "parentSession": {
    "type": "string"
   },
   "detached": {
    "type": "boolean"
   }
  }
 },
 "switch_session": {
  "type": "object",
  "required": [
   "sessionPath"
  ],
  "properties": {
   "sessionPath": {
    "type": "string",
    "minLength": 1
   },
   "detached": {
    "type": "boolean"
   }
  }
 },
 "fork": {
  "type": "object",
  "required": [
   "entryId"
  ],
  "properties": {
   "entryId": {
    "type": "string",
    "minLength": 1
   },
   "detached": {
    "type": "boolean"
   }
  }
 },
 "branch": {
  "type": "object",
  "required": [
   "entryId"
  ],
  "properties": {
   "entryId": {
    "type": "string",
    "minLength": 1
   },
   "detached": {
    "type": "boolean"
   }
  }
 },
 "clone": {
  "type": "object",
  "properties": {
   "detached": {
    "type": "boolean"
   }
  }
 },
 "get_fork_messages": {
  "type": "object",
  "properties": {}
 },
 "get_branch_messages": {
  "type": "object",
  "properties": {}
 },
 "get_state": {
  "type": "object",
  "properties": {}
 },
 "get_messages": {
  "type": "object",
  "properties": {}
 },
 "get_messages_page": {
  "type": "object",
  "properties": {
   "cursor": {
    "type": "string"
   },
   "limit": {
    "type": "integer",
    "minimum": 1
   },
   "from": {
    "type": "string",
    "enum": [
     "start",
     "end"
    ]
   },
   "replaced": {
    "type": "boolean"
   }
  }
 },
 "get_entries": {
  "type": "object",
  "properties": {
   "since": {
    "type": "string",
    "minLength": 1
   },
   "limit": {
    "type": "integer",
    "minimum": 0
   }
  }
 },
 "get_tree": {
  "type": "object",
  "properties": {}
 },
 "navigate_tree": {
  "type": "object",
  "required": [
   "targetId"
  ],
  "properties": {
   "targetId": {
    "type": "string",
    "minLength": 1
   },
   "summarize": {
    "type": "boolean"
   },
   "customInstructions": {
    "type": "string"
   },
   "replaceInstructions": {
    "type": "boolean"
   },
   "label": {
    "type": "string"
   }
  }
 },
 "get_last_assistant_text": {
  "type": "object",
  "properties": {}
 },
 "set_session_name": {
  "type": "object",
  "required": [
   "name"
  ],
  "properties": {
   "name": {
    "type": "string"
   }
  }
 },
 "get_session_stats": {
  "type": "object",
  "properties": {}
 },
 "list_sessions": {
  "type": "object",
  "properties": {
   "cwd": {
    "type": "string"
   },
   "cursor": {
    "type": "string"
   },
   "limit": {
    "type": "integer",
    "minimum": 1
   }
  }
 },
 "delete_session": {
  "type": "object",
  "required": [
   "sessionPath"
  ],
  "properties": {
   "sessionPath": {
    "type": "string",
    "minLength": 1
   },
   "stop": {
    "type": "string",
    "enum": [
     "run",
     "all"
    ]
   }
  }
 },
 "restore_session": {
  "type": "object",
  "required": [
   "trashPath"
  ],
  "properties": {
   "trashPath": {
    "type": "string",
    "minLength": 1
   }
  }
 },
 "rename_session": {
  "type": "object",
  "required": [
   "sessionPath",
   "name"
  ],
  "properties": {
   "sessionPath": {
    "type": "string",
    "minLength": 1
   },
   "name": {
    "type": "string"
   }
  }
 },
 "preflight": {
  "type": "object",
  "properties": {}
 },
 "export_html": {
  "type": "object",
  "properties": {
   "outputPath": {
    "type": "string",
    "minLength": 1
   }
  }
 },
 "list_files": {
  "type": "object",
  "properties": {
   "query": {
    "type": "string"
   },
   "limit": {
    "type": "integer",
    "minimum": 1
   }
  }
 },
 "get_commands": {
  "type": "object",
  "properties": {
   "builtins": {
    "type": "boolean"
   }
  }
 },
 "set_trust": {
  "type": "object",
  "required": [
   "trusted"
  ],
  "properties": {
   "trusted": {
    "type": "boolean"
   },
   "remember": {
    "type": "boolean"
   }
  }
 },
 "set_model": {
  "type": "object",
  "required": [
   "provider",
   "modelId"
  ],
  "properties": {
   "provider": {
    "type": "string",
    "minLength": 1
   },
   "modelId": {
    "type": "string",
    "minLength": 1
   },
   "persist": {
    "type": "boolean"
   }
  }
 },
 "cycle_model": {
  "type": "object",
  "properties": {}
 },
 "get_available_models": {
  "type": "object",
  "properties": {
   "builtins": {
    "type": "boolean"
   }
  }
 },
 "set_thinking_level": {
  "type": "object",
  "required": [
   "level"
  ],
  "properties": {
   "level": {
    "$ref": "#/$defs/ThinkingLevelInput"
   },
   "persist": {
    "type": "boolean"
   }
  }
 },
 "set_credential": {
  "type": "object",
  "required": [
   "provider",
   "apiKey"
  ],
  "properties": {
   "provider": {
    "type": "string",
    "minLength": 1
   },
   "apiKey": {
    "type": "string",
    "minLength": 1
   }
  }
 },
 "remove_credential": {
  "type": "object",
  "required": [
   "provider"
  ],
  "properties": {
   "provider": {
    "type": "string",
    "minLength": 1
   }
  }
 },
 "list_providers": {
  "type": "object",
  "properties": {}
 },
 "get_login_providers": {
  "type": "object",
  "properties": {}
 },
 "login": {
  "type": "object",
  "required": [
   "providerId"
  ],
  "properties": {
   "providerId": {
    "type": "string",
    "minLength": 1
   }
  }
 },
 "cycle_thinking_level": {
  "type": "object",
  "properties": {}
 },
 "get_available_thinking_levels": {
  "type": "object",
  "properties": {}
 },
 "bash": {
  "type": "object",
  "required": [
   "command"
  ],
  "properties": {
   "command": {
    "type": "string",
    "minLength": 1
   },
   "excludeFromContext": {
    "type": "boolean"
   },
   "carriageReturns": {
    "type": "boolean"
   }
  }
 },
 "abort_bash": {
  "type": "object",
  "properties": {}
 },
 "get_tools": {
  "type": "object",
  "properties": {}
 },
 "set_active_tools": {
  "type": "object",
  "required": [
   "tools"
  ],
  "properties": {
   "tools": {
    "type": "array",
    "items": {
     "type": "string",
     "minLength": 1
    }
   }
  }
 },
 "set_host_tools": {
  "type": "object",
  "required": [
   "tools"
  ],
  "properties": {
   "tools": {
    "type": "array",
    "items": {
     "$ref": "#/$defs/HostTool"
    }
   }
  }
 },
 "set_mcp_servers": {
  "type": "object",
  "required": [
   "servers"
  ],
  "properties": {
   "servers": {
    "type": "object"
   }
  }
 },
 "set_todos": {
  "type": "object",
  "required": [
   "phases"
  ],
  "properties": {
   "phases": {
    "type": "array",
    "items": {
     "$ref": "#/$defs/TodoPhase"
    }
   }
  }
 },
 "set_approval_mode": {
  "type": "object",
  "properties": {
   "mode": {
    "$ref": "#/$defs/ApprovalMode"
   },
   "sandbox": {
    "$ref": "#/$defs/SandboxUse"
   },
   "approvalLimit": {
    "$ref": "#/$defs/ApprovalMode"
   },
   "mayLoosen": {
    "type": "boolean"
   }
  }
 },
 "get_approvals": {
  "type": "object",
  "properties": {}
 },
 "remove_approval": {
  "type": "object",
  "required": [
   "rule"
  ],
  "properties": {
   "rule": {
    "type": "string",
    "minLength": 1
   }
  }
 }
};

export const frameSchemas: Readonly<Record<FrameName, Schema>> = {
 "extension_ui_response": {
  "type": "object",
  "required": [
   "type",
   "id"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "extension_ui_response"
   },
   "id": {
    "type": "string"
   },
   "value": {
    "type": "string"
   },
   "confirmed": {
    "type": "boolean"
   },
   "cancelled": {
    "type": "boolean"
   },
   "timedOut": {
    "type": "boolean"
   },
   "message": {
    "type": "string"
   },
   "approvalLimit": {
    "$ref": "#/$defs/ApprovalMode"
   }
  }
 },
 "host_tool_update": {
  "type": "object",
  "required": [
   "type",
   "id",
   "partialResult"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "host_tool_update"
   },
   "id": {
    "type": "string"
   },
   "partialResult": {
    "$ref": "#/$defs/ToolOutput"
   }
  }
 },
 "host_tool_result": {
  "type": "object",
  "required": [
   "type",
   "id",
   "result"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "host_tool_result"
   },
   "id": {
    "type": "string"
   },
   "result": {
    "$ref": "#/$defs/ToolOutput"
   },
   "isError": {
    "type": "boolean"
   }
  }
 },
 "entries_kept": {
  "type": "object",
  "required": [
   "type",
   "id"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "entries_kept"
   },
   "id": {
    "type": "string"
   }
  }
 }
};

export const inboundDefinitions: Definitions = {
 "ImageInput": {
  "anyOf": [
   {
    "$ref": "#/$defs/PlainImage"
   },
   {
    "$ref": "#/$defs/ForeignImage"
   }
  ]
 },
 "PlainImage": {
  "type": "object",
  "required": [
   "data",
   "mimeType"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "image"
   },
   "data": {
    "type": "string",
    "minLength": 1
   },
   "mimeType": {
    "type": "string",
    "minLength": 1
   }
  }
 },
 "ForeignImage": {
  "type": "object",
  "required": [
   "type",
   "source"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "image"
   },
   "source": {
    "type": "object",
    "required": [
     "data"
    ],
    "additionalProperties": false,
    "properties": {
     "type": {
      "type": "string",
      "const": "base64"
     },
     "mediaType": {
      "type": "string"
     },
     "media_type": {
      "type": "string"
     },
     "mimeType": {
      "type": "string"
     },
     "data": {
      "type": "string",
      "minLength": 1
     }
    }
   }
  }
 },
 "Limits": {
  "type": "object",
  "additionalProperties": false,
  "properties": {
   "turns": {
    "type": "integer",
    "minimum": 0
   },
   "tokens": {
    "type": "integer",
    "minimum": 0
   },
   "cost": {
    "type": "number"
   },
   "wallMs": {
    "type": "integer",
    "minimum": 0
   }
  }
 },
 "ApprovalMode": {
  "type": "string",
  "enum": [
   "plan",
   "ask",
   "edit",
   "auto",
   "full"
  ]
 },
 "QueueMode": {
  "type": "string",
  "enum": [
   "all",
   "one-at-a-time"
  ]
 },
 "InterruptMode": {
  "type": "string",
  "enum": [
   "immediate",
   "wait"
  ]
 },
 "ThinkingLevelInput": {
  "type": "string",
  "enum": [
   "off",
   "minimal",
   "low",
   "medium",
   "high",
   "xhigh",
   "max",
   "brief"
  ]
 },
 "HostTool": {
  "type": "object",
  "required": [
   "name",
   "description",
   "parameters"
  ],
  "additionalProperties": false,
  "properties": {
   "name": {
    "type": "string"
   },
   "label": {
    "type": "string"
   },
   "description": {
    "type": "string"
   },
   "parameters": {
    "type": "object"
   },
   "hidden": {
    "type": "boolean"
   },
   "timeoutMs": {
    "type": "integer",
    "minimum": 0
   }
  }
 },
 "TodoPhase": {
  "type": "object",
  "required": [
   "name",
   "tasks"
  ],
  "additionalProperties": false,
  "properties": {
   "id": {
    "type": "string"
   },
   "name": {
    "type": "string",
    "minLength": 1
   },
   "tasks": {
    "type": "array",
    "items": {
     "$ref": "#/$defs/TodoTask"
    }
   }
  }
 },
 "TodoTask": {
  "type": "object",
  "required": [
   "content",
   "status"
  ],
  "additionalProperties": false,
  "properties": {
   "id": {
    "type": "string"
   },
   "content": {
    "type": "string",
    "minLength": 1
   },
   "status": {
    "type": "string",
    "enum": [
     "pending",
     "in_progress",
     "completed",
     "abandoned",
     "blocked"
    ]
   },
   "notes": {
    "type": "string"
   },
   "details": {
    "type": "string"
   }
  }
 },
 "SandboxUse": {
  "type": "string",
  "enum": [
   "off",
   "auto",
   "required",
   "external"
  ]
 },
 "ExtensionUiResponse": {
  "type": "object",
  "required": [
   "type",
   "id"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "extension_ui_response"
   },
   "id": {
    "type": "string"
   },
   "value": {
    "type": "string"
   },
   "confirmed": {
    "type": "boolean"
   },
   "cancelled": {
    "type": "boolean"
   },
   "timedOut": {
    "type": "boolean"
   },
   "message": {
    "type": "string"
   },
   "approvalLimit": {
    "$ref": "#/$defs/ApprovalMode"
   }
  }
 },
 "HostToolUpdate": {
  "type": "object",
  "required": [
   "type",
   "id",
   "partialResult"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "host_tool_update"
   },
   "id": {
    "type": "string"
   },
   "partialResult": {
    "$ref": "#/$defs/ToolOutput"
   }
  }
 },
 "ToolOutput": {
  "type": "object",
  "required": [
   "content"
  ],
  "additionalProperties": false,
  "properties": {
   "content": {
    "type": "array",
    "items": {
     "$ref": "#/$defs/ContentBlock"
    }
   },
   "details": {}
  }
 },
 "ContentBlock": {
  "anyOf": [
   {
    "$ref": "#/$defs/TextContent"
   },
   {
    "$ref": "#/$defs/ImageContent"
   }
  ]
 },
 "TextContent": {
  "type": "object",
  "required": [
   "type",
   "text"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "text"
   },
   "text": {
    "type": "string"
   },
   "textSignature": {
    "type": "string"
   }
  }
 },
 "ImageContent": {
  "type": "object",
  "required": [
   "type",
   "data",
   "mimeType"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "image"
   },
   "data": {
    "type": "string"
   },
   "mimeType": {
    "type": "string"
   }
  }
 },
 "HostToolResult": {
  "type": "object",
  "required": [
   "type",
   "id",
   "result"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "host_tool_result"
   },
   "id": {
    "type": "string"
   },
   "result": {
    "$ref": "#/$defs/ToolOutput"
   },
   "isError": {
    "type": "boolean"
   }
  }
 },
 "EntriesKept": {
  "type": "object",
  "required": [
   "type",
   "id"
  ],
  "additionalProperties": false,
  "properties": {
   "type": {
    "type": "string",
    "const": "entries_kept"
   },
   "id": {
    "type": "string"
   }
  }
 }
};
