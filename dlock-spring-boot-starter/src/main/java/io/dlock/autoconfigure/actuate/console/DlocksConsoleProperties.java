package io.dlock.autoconfigure.actuate.console;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Configuration of the console.
 *
 * @param enabled Whether the endpoint "dlocks" serves a page for people, and this process
 * keeps its latest incidents for it
 * @since 0.1
 */
@ConfigurationProperties("dlock.console")
public record DlocksConsoleProperties(@DefaultValue("false") boolean enabled) {

}
