/** What an agent is told of an intent. A change of the text raises the version, which each run keeps. */
export interface Prompt {
  version: number;
  text: string;
  /**
   * The shape of the answer, as the agent is shown it. Written as types and not as JSON, so that an agent that only repeats
   * it has not answered.
   */
  shape: string;
}
