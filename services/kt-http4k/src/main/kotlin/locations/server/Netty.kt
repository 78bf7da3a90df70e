package locations.server

import io.netty.bootstrap.ServerBootstrap
import io.netty.buffer.Unpooled
import io.netty.channel.Channel
import io.netty.channel.ChannelFutureListener
import io.netty.channel.ChannelHandlerContext
import io.netty.channel.ChannelInitializer
import io.netty.channel.ChannelOption
import io.netty.channel.MultiThreadIoEventLoopGroup
import io.netty.channel.SimpleChannelInboundHandler
import io.netty.channel.nio.NioIoHandler
import io.netty.channel.socket.SocketChannel
import io.netty.channel.socket.nio.NioServerSocketChannel
import io.netty.handler.codec.http.DefaultFullHttpResponse
import io.netty.handler.codec.http.FullHttpRequest
import io.netty.handler.codec.http.HttpObjectAggregator
import io.netty.handler.codec.http.HttpResponseStatus
import io.netty.handler.codec.http.HttpServerCodec
import io.netty.handler.codec.http.HttpServerKeepAliveHandler
import io.netty.handler.codec.http.HttpUtil
import io.netty.handler.codec.http.HttpVersion
import org.http4k.core.HttpHandler
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.server.Http4kServer
import org.http4k.server.ServerConfig
import java.net.InetSocketAddress
import java.util.concurrent.ExecutorService
import java.util.concurrent.TimeUnit.MILLISECONDS

/** Netty. Handlers block, so they run on threads of their own and not on the event loops. */
class Netty(private val port: Int) : ServerConfig {
    override val stopMode get() = locations.server.stopMode

    override fun toServer(http: HttpHandler): Http4kServer = object : Http4kServer {
        private val loops = MultiThreadIoEventLoopGroup(NioIoHandler.newFactory())
        private val threads = handlerThreads()
        private lateinit var channel: Channel

        override fun start() = apply {
            channel = ServerBootstrap().group(loops)
                .channel(NioServerSocketChannel::class.java)
                .option(ChannelOption.SO_BACKLOG, 1000)
                .childHandler(object : ChannelInitializer<SocketChannel>() {
                    override fun initChannel(channel: SocketChannel) {
                        channel.pipeline().addLast(
                            HttpServerCodec(), HttpServerKeepAliveHandler(), HttpObjectAggregator(64 * 1024), Handler(http, threads),
                        )
                    }
                })
                .bind(port).sync().channel()
        }

        override fun stop() = apply {
            channel.close().sync()
            loops.shutdownGracefully(0, stopMode.timeout.toMillis(), MILLISECONDS).sync()
            threads.shutdown()
        }

        override fun port() = (channel.localAddress() as InetSocketAddress).port
    }
}

private class Handler(private val http: HttpHandler, private val threads: ExecutorService) : SimpleChannelInboundHandler<FullHttpRequest>() {
    override fun channelRead0(context: ChannelHandlerContext, message: FullHttpRequest) {
        val request = request(message.method().name(), message.uri(), message.headers().map { it.key to it.value })
        threads.execute {
            val response = request?.let(http) ?: Response(Status.NOT_IMPLEMENTED)
            context.writeAndFlush(response.toNetty()).addListener(ChannelFutureListener.CLOSE_ON_FAILURE)
        }
    }

    private fun Response.toNetty() =
        DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status.code), Unpooled.wrappedBuffer(body.payload)).also {
            headers.forEach { (name, value) -> it.headers().add(name, value.orEmpty()) }
            HttpUtil.setContentLength(it, it.content().readableBytes().toLong())
        }
}
