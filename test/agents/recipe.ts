/** What one agent needs to be installed, pointed at the fake model and made to do something. Data, as far as it goes. */
export interface Recipe {
  /** As Kaiwu's table of agents names it. */
  agentId: string;
  /** npm package, pinned. */
  package: string;
  version: string;
  /** Program that has to be there after the installation. */
  binary: string;
  /** Arguments that make it speak ACP, where it is started without Kaiwu. */
  args: string[];
  /** Its install script makes the program; elsewhere none is run. */
  installScripts?: true;
  /** Writes its settings under `home` and answers with the environment that it needs. */
  configure(where: { home: string; modelUrl: string }): Promise<Record<string, string>>;
  /** Calls of its own tools, as its model would make them. */
  call: {
    /** A command that changes something, so that a person has to be asked; `unasked`: where it may run without. */
    shell(command: string, unasked?: boolean): ToolCall;
    write(path: string, content: string): ToolCall;
    /** A tool of the MCP server `kaiwu` that its session has. */
    kaiwu(name: string, args: object): ToolCall;
  };
  /** How its model asks the person a question with the choice `Blue`; a setting may have to be on for it. */
  question?: { call: ToolCall; setting?: { on: Setting; off: Setting } };
  /** Model to change to, and the name under which the fake model then hears of it. */
  secondModel?: string;
  /** Mode in which it writes a file unasked. */
  freeMode?: 'accept_edits' | 'bypass';
  /** How old a conversation must be to be loaded again, milliseconds. */
  restsBeforeLoad?: number;
  /** What it cannot do, in words, by step: such a step is skipped with that reason. */
  lacks: Partial<Record<string, string>>;
}

interface Setting {
  configId: string;
  value: string;
}

export interface ToolCall {
  tool: string;
  args: object;
}

/** The line of a message that makes the fake model call it. */
export const toLine = ({ tool, args }: ToolCall): string => `%call ${tool} ${JSON.stringify(args)}`;
